import { thresholdsToBill } from '@tollgate/domain/calendar/due-items'
import { billUsage } from '@tollgate/domain/billing/bill-usage'
import { removeCrossing } from '@tollgate/domain/billing/crossings-repository'
import { decideThresholdBill } from '@tollgate/domain/billing/decide-threshold-bill'
import { measureUsage, type MeasuringParts } from '@tollgate/domain/billing/measure-usage'
import {
  prepareThresholdBill,
  type PreparedThresholdBill,
} from '@tollgate/domain/billing/prepare-threshold-bill'
import { findPackAccount } from '@tollgate/domain/packs/repository'
import { listPurchases, type Purchase } from '@tollgate/domain/purchases/repository'
import { beginCharge, collectInvoice, type Charging } from './collect-invoice.ts'
import type { ItemContext, ItemJob, ItemOutcome } from './job.ts'
import { packItem } from './settle-packs.ts'

export type ThresholdBilling = {
  readonly charging: Charging
  readonly measuring: MeasuringParts
  /** Settles packs, which pay for usage before it is billed. */
  readonly packs: Pick<ItemJob, 'perform'>
  /** Milliseconds from the end of a period until its records are no longer accepted. */
  readonly lateMs: number
}

/**
 * Bills the usage of running periods that has reached the amount of their plan. Order: packs are settled up to now; the period is
 * read and committed; the usage is summed up with no transaction open; one transaction issues the invoice, moves the date by which a
 * second bill of the same sums is refused, and removes the crossing; the invoice is charged. After a crash before that transaction,
 * the crossing is still there and nothing was billed. After a crash behind it, the open invoice is charged like any other.
 */
export function createThresholdBilling(billing: ThresholdBilling): ItemJob {
  const { lateMs } = billing
  return {
    kind: 'items',
    name: 'threshold-billing',
    due: thresholdsToBill,
    perform: async (context, reference) => {
      const prepare = (): Promise<PreparedThresholdBill> =>
        context.commit((work) => prepareThresholdBill(work, reference, lateMs))
      const first = await prepare()
      const isSettled =
        first.kind === 'due' && (await settlePacks(billing, context, first.toBill.purchase))
      const prepared = isSettled ? await prepare() : first
      switch (prepared.kind) {
        case 'nothing':
          return 'nothing'
        case 'wait':
          return 'postponed'
        case 'due':
          return await bill(billing, context, prepared)
      }
    },
    explain: async (sql, { providerId, item }, now) => {
      const [purchase] = await listPurchases(sql, providerId, { reference: item, rowsMax: 1 })
      if (purchase === undefined) return 'gone'
      const decision = decideThresholdBill(purchase, now)
      switch (decision.kind) {
        case 'nothing':
          return 'nothing'
        case 'wait':
          return 'wait for the bill of the period before, or for a payment'
        case 'bill':
          return `bill the usage since ${decision.period.start.toISOString()} if it still costs the amount`
      }
    },
  }
}

/** Settles units of packs that ended or were refunded, so that they pay for the usage before that. Returns false if there are none. */
async function settlePacks(
  { packs }: ThresholdBilling,
  context: ItemContext,
  purchase: Purchase,
): Promise<boolean> {
  const { providerId } = context
  const account = await context.commit(({ sql }) => findPackAccount(sql, providerId, purchase))
  if (account === undefined) return false
  await packs.perform(context, packItem(purchase))
  return true
}

async function bill(
  { charging, measuring }: ThresholdBilling,
  context: ItemContext,
  { toBill, version }: Extract<PreparedThresholdBill, { kind: 'due' }>,
): Promise<ItemOutcome> {
  const { environment, providerId } = context
  const { purchase } = toBill
  const measured = await measureUsage(measuring, environment, providerId, toBill)
  const seller = await context.readProvider()
  const { billed, begun } = await context.commit(async (work) => {
    const issued = await billUsage(work, toBill, measured, seller, 'alone')
    // After a change, for example another bill, the crossing is decided again.
    if (issued.kind !== 'changed') {
      await removeCrossing(work.sql, providerId, purchase.reference, version)
    }
    if (issued.kind !== 'invoiced') return { billed: issued, begun: undefined }
    return { billed: issued, begun: await beginCharge(work, issued.invoice, purchase, charging) }
  })
  if (billed.kind === 'changed') return 'postponed'
  if (billed.kind !== 'invoiced') return 'nothing'
  await collectInvoice(context, billed.invoice, charging, begun)
  return 'done'
}
