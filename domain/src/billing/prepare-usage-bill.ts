import type { Queryable } from '@tollgate/platform/database/database'
import { findCustomer, listReferencesOf } from '../customers/repository.ts'
import { listBilledPeriods, type BilledPeriod } from '../invoices/billed-periods.ts'
import { listBilledUsage } from '../invoices/billed-usage.ts'
import type { BilledUsage } from '../invoices/sum-billed-usage.ts'
import type { ChargedPeriod } from '../pricing/invoice-line.ts'
import { dueRenewal } from '../purchases/decide-renewal.ts'
import { lockPurchase, type Purchase } from '../purchases/repository.ts'
import { findEndOfPrevious, updateUsageBilling } from '../purchases/notes-repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import {
  decideUsageBill,
  nothingToBill,
  type UsageDelays,
  type UsageNotes,
} from './decide-usage-bill.ts'
import { periodsToLookAtAgain } from '../purchases/usage-windows.ts'

/** What is known of a purchase before its usage is summed up. */
export type UsageToBill = {
  readonly purchase: Purchase
  /** Undefined: all are billed, and what came late is left. */
  readonly period: ChargedPeriod | undefined
  /** Billed before and to be looked at again; newest first, and the newest one in any case. */
  readonly earlier: readonly (ChargedPeriod & { readonly billed: BilledUsage })[]
  /** Of the customer's purchase before this one. */
  readonly endOfPrevious: Date | undefined
  /** Every reference that the customer's usage may have come in under. */
  readonly customerRefs: readonly string[]
  /** What is noted with the bill. */
  readonly notes: UsageNotes
}

export type PreparedUsageBill =
  | { readonly kind: 'due'; readonly toBill: UsageToBill }
  /** Its time has not come. */
  | { readonly kind: 'wait'; readonly purchase: Purchase }
  /** What was noted is put right; it may be due after all. */
  | { readonly kind: 'aligned' }
  | { readonly kind: 'nothing' }

type Reading = { readonly sql: Queryable; readonly providerId: string }

/** More than can have got late usage: a cycle of one day has 31 of them. */
const earlierPeriodsMax = 64

/** Looks what of a purchase's usage is to be billed, and reads all that it takes to sum it up. */
export async function prepareUsageBill(
  work: UnitOfWork,
  reference: string,
  delays: UsageDelays,
): Promise<PreparedUsageBill> {
  const { sql, providerId, now } = work
  const purchase = await lockPurchase(sql, providerId, reference)
  if (purchase === undefined) return { kind: 'nothing' }
  const decision = decideUsageBill(purchase, now, delays)
  if (decision.kind === 'nothing') return decision
  if (decision.kind === 'wait') return { kind: 'wait', purchase }
  const { customerRef } = purchase
  // Nothing is left of a deleted customer that an invoice could be addressed to.
  const isGone = (await findCustomer(sql, providerId, customerRef)) === undefined
  if (decision.kind === 'align' || isGone) {
    const notes = isGone ? nothingToBill : decision.notes
    await updateUsageBilling(sql, providerId, { reference, ...notes })
    return { kind: 'aligned' }
  }
  const period = decision.kind === 'bill' ? decision.period : undefined
  if (period !== undefined && (await mustRenewFirst(work, purchase, period))) {
    return { kind: 'wait', purchase }
  }
  const due = { purchase, period, notes: decision.notes }
  return { kind: 'due', toBill: await readUsageToBill(work, due, delays.lateMs) }
}

/** Reads what it takes to sum up the usage of a bill that was decided. */
export async function readUsageToBill(
  { sql, providerId }: Reading,
  { purchase, period, notes }: Pick<UsageToBill, 'purchase' | 'period' | 'notes'>,
  lateMs: number,
): Promise<UsageToBill> {
  const { customerRef } = purchase
  const references = await listReferencesOf(sql, [{ providerId, customerRef }])
  return {
    purchase,
    period,
    earlier: await listEarlier({ sql, providerId }, purchase, lateMs),
    endOfPrevious: await findEndOfPrevious(sql, providerId, purchase),
    customerRefs: references.get(customerRef) ?? [customerRef],
    notes,
  }
}

/** By `recurring_first` the price of the next period is invoiced before the usage of this one. */
async function mustRenewFirst(
  { sql, providerId, now }: UnitOfWork,
  purchase: Purchase,
  { end }: ChargedPeriod,
): Promise<boolean> {
  const strategy = purchase.planSnapshot?.terms.billingStrategy ?? 'recurring_first'
  const renewal = dueRenewal(purchase, now)
  if (strategy !== 'recurring_first' || renewal.kind !== 'charge') return false
  if (renewal.period.start > end) return false
  const [invoiced] = await listBilledPeriods(sql, providerId, purchase.reference, 'recurring', 1)
  return invoiced === undefined || invoiced.start < end
}

async function listEarlier(
  { sql, providerId }: Reading,
  { reference, endedAt }: Purchase,
  lateMs: number,
): Promise<UsageToBill['earlier']> {
  const all = await listBilledPeriods(sql, providerId, reference, 'usage', earlierPeriodsMax)
  const again = periodsToLookAtAgain(all, lateMs)
  const looked: readonly BilledPeriod[] = again.length > 0 ? again : all.slice(0, 1)
  const starts = looked.map(({ start }) => start)
  const usage = await listBilledUsage(sql, providerId, reference, starts)
  return looked.flatMap(({ start, end }) => {
    const billed = usage.get(start.getTime())
    if (billed === undefined) return []
    // A period that was billed before its end may have ended sooner; what came then belongs to the next purchase.
    return [{ start, end: endedAt !== null && endedAt < end ? endedAt : end, billed }]
  })
}
