import type { Queryable } from '@tollgate/platform/database/database'
import { findCustomer, listCurrentReferences } from '../customers/repository.ts'
import { listBilledPeriods, type BilledPeriod } from '../invoices/billed-periods.ts'
import { listBilledUsage } from '../invoices/billed-usage.ts'
import { listBilledMinimums } from '../invoices/billed-minimums.ts'
import { listCorrectedPeriods, type CorrectedPeriod } from '../invoices/corrected-periods.ts'
import type { BilledCharges } from '../invoices/sum-billed-usage.ts'
import { billsWithinPeriods } from '../plans/bill-threshold.ts'
import { openPacks } from '../packs/pack-balance.ts'
import { findPackAccount } from '../packs/repository.ts'
import type { ChargedPeriod } from '../pricing/invoice-line.ts'
import { decideDueRenewal } from '../purchases/decide-renewal.ts'
import { lockPurchase, type Purchase } from '../purchases/repository.ts'
import { findEndOfPrevious, updateUsageBilling } from '../purchases/purchase-fields-repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import {
  decideUsageBill,
  noBillingDates,
  type UsageDelays,
  type UsageBillingDates,
} from './decide-usage-bill.ts'
import { periodsWithLateUsage } from '../purchases/usage-windows.ts'

/** Everything about a purchase that is read before its usage is summed up. */
export type UsageToBill = {
  readonly purchase: Purchase
  /**
   * The period that the bill is the first to charge. Undefined if it is billed in part, or all periods are billed and only late usage
   * is left.
   */
  readonly period: ChargedPeriod | undefined
  /** The period of which the bill charges the rest. It is the newest of `earlier`. Undefined if no bill was made within it. */
  readonly continued?: ChargedPeriod | undefined
  /** Set for a bill within the period: it is not made if the unbilled usage of the period costs less, in minor units. */
  readonly leastMinor?: bigint | undefined
  /** Billed periods that may have late usage, newest first. The newest billed period is always included. */
  readonly earlier: readonly EarlierPeriod[]
  /** Periods whose usage was corrected. The bill removes these notes. */
  readonly corrected?: readonly CorrectedPeriod[]
  /** End of the customer's previous purchase of the product. */
  readonly endOfPrevious: Date | undefined
  /** Every customer reference under which the customer's usage may have been recorded. */
  readonly customerRefs: readonly string[]
  /** Billing dates that are stored with the bill. */
  readonly billingDates: UsageBillingDates
}

/** A period that was billed before. */
export type EarlierPeriod = ChargedPeriod & {
  readonly billed: BilledCharges
  /** What its invoices have charged for the minimum of the plan. Absent if there is none. */
  readonly minimumMinor?: bigint | undefined
  /** Its usage was corrected since its last bill. */
  readonly isCorrected?: boolean
}

export type PreparedUsageBill =
  | { readonly kind: 'due'; readonly toBill: UsageToBill }
  /** The bill is not due yet. */
  | { readonly kind: 'wait'; readonly purchase: Purchase }
  /** The units that packs pay for in the period are settled first. */
  | { readonly kind: 'unsettled'; readonly purchase: Purchase }
  /** The billing dates were corrected. The bill may be due after all. */
  | { readonly kind: 'aligned' }
  | { readonly kind: 'nothing' }

type ProviderSql = { readonly sql: Queryable; readonly providerId: string }

/** Upper limit on the periods that can have late usage. A daily cycle has 31 of them. */
const earlierPeriodsMax = 64

/**
 * Decides which usage of a purchase is to be billed, and reads the input for summing it up. Corrects the billing dates
 * if they are wrong.
 */
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
  // A deleted customer has no data left to address an invoice to.
  const isGone = (await findCustomer(sql, providerId, customerRef)) === undefined
  if (decision.kind === 'align' || isGone) {
    const billingDates = isGone ? noBillingDates : decision.billingDates
    await updateUsageBilling(sql, providerId, { reference, ...billingDates })
    return { kind: 'aligned' }
  }
  const period = decision.kind === 'bill' ? decision.period : undefined
  if (period !== undefined && (await mustRenewFirst(work, purchase, period))) {
    return { kind: 'wait', purchase }
  }
  if (period !== undefined && (await hasUnsettledPacks(work, purchase, period))) {
    return { kind: 'unsettled', purchase }
  }
  const due = { purchase, period, billingDates: decision.billingDates }
  return { kind: 'due', toBill: await readUsageToBill(work, due, delays.lateMs) }
}

/** Reads the input for summing up the usage of a bill that was decided. */
export async function readUsageToBill(
  { sql, providerId }: ProviderSql,
  { purchase, period, billingDates }: Pick<UsageToBill, 'purchase' | 'period' | 'billingDates'>,
  lateMs: number,
): Promise<UsageToBill> {
  const { customerRef, reference } = purchase
  const references = await listCurrentReferences(sql, [{ providerId, customerRef }])
  const all = await listBilledPeriods(sql, providerId, reference, 'usage', earlierPeriodsMax)
  const continued = isBilledInPart(purchase, period, all) ? period : undefined
  const corrected = await listCorrectedPeriods(sql, providerId, reference)
  return {
    purchase,
    period: continued === undefined ? period : undefined,
    ...(continued === undefined ? {} : { continued }),
    earlier: await listEarlierPeriods({ sql, providerId }, purchase, all, {
      lateMs,
      continued,
      corrected,
    }),
    ...(corrected.length === 0 ? {} : { corrected }),
    endOfPrevious: await findEndOfPrevious(sql, providerId, purchase),
    customerRefs: references.get(customerRef) ?? [customerRef],
    billingDates,
  }
}

/**
 * Returns whether the next period must be invoiced first. With `recurring_first`, the price of the next period is
 * invoiced before the usage of this one.
 */
async function mustRenewFirst(
  { sql, providerId, now }: UnitOfWork,
  purchase: Purchase,
  { end }: ChargedPeriod,
): Promise<boolean> {
  const strategy = purchase.planSnapshot?.terms.billingStrategy ?? 'recurring_first'
  const renewal = decideDueRenewal(purchase, now)
  if (strategy !== 'recurring_first' || renewal.kind !== 'charge') return false
  if (renewal.period.start > end) return false
  const [invoiced] = await listBilledPeriods(sql, providerId, purchase.reference, 'recurring', 1)
  return invoiced === undefined || invoiced.start < end
}

async function hasUnsettledPacks(
  { sql, providerId }: ProviderSql,
  purchase: Purchase,
  { end }: ChargedPeriod,
): Promise<boolean> {
  const account = await findPackAccount(sql, providerId, purchase)
  if (account === undefined || account.settledTo >= end) return false
  return openPacks(account).length > 0
}

/** Returns whether a bill within the period was made. Other plans have no such bills, and a second bill of theirs is an error. */
function isBilledInPart(
  { planSnapshot }: Purchase,
  period: ChargedPeriod | undefined,
  billed: readonly BilledPeriod[],
): boolean {
  if (period === undefined || planSnapshot === null || !billsWithinPeriods(planSnapshot))
    return false
  return billed.some(({ start }) => start.getTime() === period.start.getTime())
}

async function listEarlierPeriods(
  { sql, providerId }: ProviderSql,
  { reference, endedAt, planSnapshot }: Purchase,
  all: readonly BilledPeriod[],
  {
    lateMs,
    continued,
    corrected,
  }: Pick<UsageToBill, 'continued'> & {
    readonly lateMs: number
    readonly corrected: readonly ChargedPeriod[]
  },
): Promise<UsageToBill['earlier']> {
  const withLateUsage = periodsWithLateUsage(all, lateMs)
  const newest: readonly ChargedPeriod[] =
    withLateUsage.length > 0 ? withLateUsage : all.slice(0, 1)
  const oldest = newest.at(-1)?.start
  const correctedStarts = new Set(corrected.map(({ start }) => start.getTime()))
  const isOlder = ({ start }: ChargedPeriod): boolean => oldest === undefined || start < oldest
  const periods = [...newest, ...corrected.filter(isOlder)]
  const starts = periods.map(({ start }) => start)
  const usage = await listBilledUsage(sql, providerId, reference, starts)
  const minimums = hasMinimum(planSnapshot)
    ? await listBilledMinimums(sql, providerId, reference, starts)
    : new Map<number, bigint>()
  return periods.flatMap(({ start, end }) => {
    const billed = usage.get(start.getTime())
    if (billed === undefined) return []
    const before = { billed, minimumMinor: minimums.get(start.getTime()) }
    if (start.getTime() === continued?.start.getTime()) return [{ ...continued, ...before }]
    // The purchase may have ended before the end of a period that was billed early. Usage after that end belongs to the
    // next purchase.
    const own = { start, end: endedAt !== null && endedAt < end ? endedAt : end, ...before }
    return [correctedStarts.has(start.getTime()) ? { ...own, isCorrected: true } : own]
  })
}

function hasMinimum(plan: Purchase['planSnapshot']): boolean {
  return (plan?.terms.minimumCommitment ?? 0) > 0
}
