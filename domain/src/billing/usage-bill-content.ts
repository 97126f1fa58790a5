import type { PeriodClaim } from '../invoices/billed-periods.ts'
import { recurringLines } from '../pricing/charges.ts'
import { totalOf, type ChargedPeriod, type InvoiceLine } from '../pricing/invoice-line.ts'
import { splitCharges } from '../pricing/split-charges.ts'
import { decideDueRenewal } from '../purchases/decide-renewal.ts'
import { planAt } from '../purchases/offered-plan.ts'
import type { Purchase } from '../purchases/repository.ts'
import type { UsageToBill } from './prepare-usage-bill.ts'
import type { ChargeUsage, UsageToPrice } from './usage-lines.ts'

/** The price of the next period, on the invoice of the usage before it. */
export type RenewalPart = { readonly lines: readonly InvoiceLine[]; readonly period: ChargedPeriod }

/** What the invoice of a usage bill charges, and the periods that it claims. */
export type UsageBillContent = {
  readonly lines: readonly InvoiceLine[]
  readonly claims: readonly PeriodClaim[]
}

/** Returns whether the bill charges the pending items of the customer. A bill within a period does not, because it may be undone. */
export function billTakesItems({ leastMinor }: Pick<UsageToBill, 'leastMinor'>): boolean {
  return leastMinor === undefined
}

/** Returns whether the unbilled usage of the period costs less than the bill needs, so that it is not made. */
export function costsTooLittle(
  usage: readonly InvoiceLine[],
  { leastMinor, period, continued }: UsageToBill,
): boolean {
  if (leastMinor === undefined) return false
  const startMs = (period ?? continued)?.start.getTime()
  const ofPeriod = usage.filter((line) => line.period?.start.getTime() === startMs)
  return totalOf(ofPeriod) < leastMinor
}

/**
 * Returns the price of the next period if it belongs on the invoice of the usage until `end`, otherwise undefined. `newest` is the
 * newest period whose price was invoiced.
 */
export function combinedRenewal(
  purchase: Purchase,
  { end }: ChargedPeriod,
  newest: ChargedPeriod | undefined,
  now: Date,
): RenewalPart | undefined {
  const { planSnapshot, currency } = purchase
  if (planSnapshot?.terms.billingStrategy !== 'combined') return undefined
  const renewal = decideDueRenewal(purchase, now)
  if (renewal.kind !== 'charge' || renewal.period.start.getTime() !== end.getTime())
    return undefined
  const { start } = renewal.period
  if (newest !== undefined && newest.start >= start) return undefined
  const priced = planAt(purchase, planSnapshot, start)
  const lines = recurringLines(priced, currency, renewal.period, renewal.isFirstCharge)
  return { lines, period: { start, end: renewal.period.end } }
}

/** Returns what the invoice of a bill charges. Undefined if there is nothing to charge, so that only the billing dates move. */
export function usageBillContent(
  { status }: Pick<Purchase, 'status'>,
  { period, continued }: UsageToBill,
  measured: UsageToPrice,
  usage: readonly InvoiceLine[],
  renewal: RenewalPart | undefined,
): UsageBillContent | undefined {
  // The rest of a period can have no line, but its invoice still charges the next period.
  const isEmpty = usage.length === 0 && (continued === undefined || renewal === undefined)
  if (isEmpty || isSuspendedWithoutUsage(status, measured)) return undefined
  const groups = splitCharges(
    { recurring: renewal?.lines ?? [], usage },
    renewal === undefined ? undefined : 'combined',
  )
  return {
    lines: groups.flatMap((group) => group.lines),
    claims: [
      ...(renewal === undefined ? [] : [{ part: 'recurring', period: renewal.period } as const]),
      ...(period === undefined ? [] : [{ part: 'usage', period } as const]),
    ],
  }
}

/**
 * Returns whether a suspended purchase had no usage to bill. Suspended purchases continue to have periods, and a period without usage
 * gets no invoice.
 */
function isSuspendedWithoutUsage(status: Purchase['status'], measured: UsageToPrice): boolean {
  return status === 'suspended' && measured.every(hasNoUsage)
}

function hasNoUsage({ current, earlier }: ChargeUsage): boolean {
  const hasLate = earlier.some(
    ({ usedMicros, usedBeforeMicros, billed }) =>
      usedMicros !== billed.usedMicros || usedBeforeMicros !== billed.usedBeforeMicros,
  )
  return current?.usedMicros === 0n && !hasLate
}
