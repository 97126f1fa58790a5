import { dueResets } from '@tollgate/domain/calendar/due-items'
import {
  findRollOverUsage,
  measureRolledOverUnits,
} from '@tollgate/domain/billing/rolled-over-units'
import type { MeasuringParts, UsageToMeasure } from '@tollgate/domain/billing/measure-usage'
import {
  decideCarryOver,
  carryOverFinalAt,
  type CarryOverDecision,
} from '@tollgate/domain/purchases/decide-carry-over'
import { hasStatusWithAccess } from '@tollgate/domain/purchases/access'
import { decideReset, type ResetDecision } from '@tollgate/domain/purchases/decide-reset'
import { usageResetObject } from '@tollgate/domain/purchases/purchase-event'
import { listPurchases, lockPurchase, type Purchase } from '@tollgate/domain/purchases/repository'
import {
  updateJobDates,
  updateCarryOver,
} from '@tollgate/domain/purchases/purchase-fields-repository'
import {
  queuePublication,
  recordEvent,
  type UnitOfWork,
} from '@tollgate/domain/unit-of-work/unit-of-work'
import type { ItemJob, ItemOutcome } from './job.ts'

/**
 * Emits `usage.reset` when a period has begun, with the units carried over from the previous period. Settles the carried units once
 * late usage of the previous period can no longer arrive. No counter has to be reset, because each period has counters of its own.
 *
 * The remaining units are summed up with no transaction open, between the transaction that finds the due item and the one that
 * records the result. After a crash in between, the item is still due.
 */
export function createUsageReset(measuring: MeasuringParts): ItemJob {
  return {
    kind: 'items',
    name: 'usage-reset',
    due: dueResets,
    perform: async (context, reference) => {
      const found = await context.commit(async (work) => {
        const purchase = await lockPurchase(work.sql, work.providerId, reference)
        if (purchase === undefined) return 'nothing'
        const due = decide(purchase, work.now)
        if (!needsRolledOverUnits(due)) return act(work, purchase, due, 0n)
        const usage = await findRollOverUsage(work, purchase, due.period)
        return usage === undefined ? act(work, purchase, due, 0n) : { due, usage }
      })
      if (typeof found === 'string') return found
      const { environment, providerId } = context
      const rolledOverMicros = await measureRolledOverUnits(
        measuring,
        environment,
        providerId,
        found.usage,
      )
      return context.commit((work) => actIfUnchanged(work, found, rolledOverMicros))
    },
    explain: async (sql, { providerId, item }, now) => {
      const [purchase] = await listPurchases(sql, providerId, { reference: item, rowsMax: 1 })
      return purchase === undefined ? 'gone' : describe(decide(purchase, now))
    },
  }
}

type Due = ResetDecision | (CarryOverDecision & { readonly kind: 'settle' }) | AlignedSettlement

type AlignedSettlement = { readonly kind: 'align-settlement'; readonly carrySettlesAt: Date | null }

type PeriodStart = Extract<Due, { kind: 'reset' | 'settle' }>

/** Purchases without access get no reset event. */
function decide(purchase: Purchase, now: Date): Due {
  const reset = hasStatusWithAccess(purchase) ? decideReset(purchase, now) : undefined
  if (reset !== undefined && reset.kind !== 'nothing') return reset
  const carry = decideCarryOver(purchase, now)
  return carry.kind === 'align' ? { ...carry, kind: 'align-settlement' } : carry
}

/** Returns whether the decision needs the units that were left from the previous period. */
function needsRolledOverUnits(due: Due): due is PeriodStart {
  return due.kind === 'reset' || due.kind === 'settle'
}

async function actIfUnchanged(
  work: UnitOfWork,
  { due, usage }: { readonly due: PeriodStart; readonly usage: UsageToMeasure },
  rolledOverMicros: bigint,
): Promise<ItemOutcome> {
  const before = usage.purchase
  const purchase = await lockPurchase(work.sql, work.providerId, before.reference)
  // A concurrent change may have done this already. If it did not, the purchase is found due again.
  if (purchase === undefined || !isUnchanged(purchase, before)) return 'nothing'
  return act(work, purchase, due, rolledOverMicros)
}

function isUnchanged(one: Purchase, other: Purchase): boolean {
  const times = [
    'nextResetAt',
    'carrySettlesAt',
    'suspendedAt',
    'accessRestoredAt',
    'endDate',
    'endedAt',
  ] as const
  return times.every((name) => one[name]?.getTime() === other[name]?.getTime())
}

async function act(
  work: UnitOfWork,
  purchase: Purchase,
  due: Due,
  rolledOverMicros: bigint,
): Promise<ItemOutcome> {
  const { sql, providerId } = work
  switch (due.kind) {
    case 'nothing':
      return 'nothing'
    case 'align':
      await updateJobDates(sql, providerId, { ...purchase, nextResetAt: due.nextResetAt })
      return 'done'
    case 'align-settlement':
      await updateCarryOver(sql, providerId, { ...purchase, carrySettlesAt: due.carrySettlesAt })
      // During an upgrade an older control plane may have published the purchase without its carried units.
      await queuePublication(work, 'customer', purchase.customerRef)
      return 'done'
    case 'reset':
      await beginPeriod(work, purchase, due, rolledOverMicros)
      return 'done'
    case 'settle':
      await updateCarryOver(sql, providerId, {
        reference: purchase.reference,
        carriedInto: due.period.start,
        carriedOverMicros: rolledOverMicros,
        carrySettlesAt: null,
      })
      await queuePublication(work, 'customer', purchase.customerRef)
      return 'done'
  }
}

async function beginPeriod(
  work: UnitOfWork,
  purchase: Purchase,
  { period, nextResetAt }: Extract<Due, { kind: 'reset' }>,
  rolledOverMicros: bigint,
): Promise<void> {
  const { sql, providerId, now } = work
  await updateJobDates(sql, providerId, { ...purchase, nextResetAt })
  await recordEvent(work, 'usage.reset', usageResetObject(purchase, period, rolledOverMicros, now))
  if (purchase.planSnapshot?.terms.rolloverUnusedUnits !== true) return
  await updateCarryOver(sql, providerId, { ...purchase, carrySettlesAt: carryOverFinalAt(period) })
  // Publishes the counters of the coming period before it begins, and keeps those of the previous period.
  await queuePublication(work, 'customer', purchase.customerRef)
}

function describe(due: Due): string {
  switch (due.kind) {
    case 'nothing':
      return 'nothing'
    case 'align':
      return `set the next reset to ${due.nextResetAt?.toISOString() ?? 'none'}`
    case 'align-settlement':
      return `set the settlement of carried units to ${due.carrySettlesAt?.toISOString() ?? 'never'}`
    case 'reset':
      return `announce the period from ${due.period.start.toISOString()}`
    case 'settle':
      return `settle the units carried over into the period from ${due.period.start.toISOString()}`
  }
}
