import type { ProrationPolicy } from '@tollgate/schemas/http/plan-terms'
import { decimalFromMicros } from '@tollgate/schemas/quantity'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { invoiceLine, type ChargedPeriod, type InvoiceLine } from './invoice-line.ts'
import type { CreditConversion, UsageReading } from './line-inputs.ts'
import { pricesIn } from './plan-prices.ts'
import { usageTermsOf } from './usage-terms.ts'

/* What a purchase is charged for, as lines of an invoice in the currency that it pays in. */

/** The base price of a period, which is charged as it begins. No lines for a plan that has none. */
export function recurringLines(
  plan: PlanSnapshot,
  currency: string,
  period: ChargedPeriod,
  isFirstCharge: boolean,
): InvoiceLine[] {
  const { priceMinor, setupFeeMinor } = requirePrices(plan, currency)
  const price = invoiceLine(fixed('recurring', priceMinor), plan.name, period)
  return withoutNothing([price, ...setupFee(plan, isFirstCharge ? setupFeeMinor : 0n)])
}

export function oneTimeLines(plan: PlanSnapshot, currency: string): InvoiceLine[] {
  const { priceMinor, setupFeeMinor } = requirePrices(plan, currency)
  const price = invoiceLine(fixed('one_time', priceMinor), plan.name, null)
  return withoutNothing([price, ...setupFee(plan, setupFeeMinor)])
}

/**
 * What was paid for a plan as it was taken, `paidMinor` in all: its price for the first period, or for good, and the
 * set-up fee where that is part of it.
 */
export function paidPlanLines(
  plan: PlanSnapshot,
  currency: string,
  paidMinor: bigint,
  period: ChargedPeriod | null,
): InvoiceLine[] {
  const { priceMinor, setupFeeMinor } = requirePrices(plan, currency)
  const feeMinor = paidMinor === priceMinor + setupFeeMinor ? setupFeeMinor : 0n
  const kind = period === null ? 'one_time' : 'recurring'
  const price = invoiceLine(fixed(kind, paidMinor - feeMinor), plan.name, period)
  return withoutNothing([price, ...setupFee(plan, feeMinor)])
}

/** Credits that were bought; `plan` is undefined where they were bought for no plan. */
export function creditLines(
  plan: PlanSnapshot | undefined,
  credits: bigint,
  paidMinor: bigint,
): InvoiceLine[] {
  const inputs = {
    kind: 'credits',
    amountMinor: paidMinor.toString(),
    credits: credits.toString(),
  } as const
  const description = plan === undefined ? 'Credits' : `${plan.name}, credits`
  return [invoiceLine(inputs, description, null)]
}

/** 10^-6 units. */
export type PeriodUsage = {
  readonly period: ChargedPeriod
  readonly usedMicros: bigint
  /** Left over from the period before. */
  readonly carriedOverMicros: bigint
  /** Used by the purchases before this one of the allowance that it shares. Absent: nothing. */
  readonly usedBeforeMicros?: bigint | undefined
  readonly reading: UsageReading
}

/**
 * Usage of a period that has ended; no line for a plan that is not billed by usage. A period that costs nothing has its
 * line too: it says up to where usage was billed, and what comes later is late.
 */
export function usageLines(
  plan: PlanSnapshot,
  conversion: CreditConversion,
  { period, usedMicros, carriedOverMicros, usedBeforeMicros, reading }: PeriodUsage,
): InvoiceLine[] {
  const terms = usageTermsOf(plan)
  if (terms === undefined) return []
  const inputs = {
    kind: 'usage',
    terms,
    usedUnits: decimalFromMicros(usedMicros),
    carriedOverUnits: decimalFromMicros(carriedOverMicros),
    ...usedBefore(usedBeforeMicros),
    conversion,
    reading,
  } as const
  return [invoiceLine(inputs, `${plan.name}, usage`, period)]
}

/** `usedMicros` is all that was billed of the period before, `lateMicros` what is new; so is `lateBeforeMicros`. */
export type LateUsage = PeriodUsage & {
  readonly lateMicros: bigint
  readonly lateBeforeMicros?: bigint | undefined
}

/** Usage that came after its period was billed: priced by `plan`, the one that the period had. */
export function lateUsageLines(
  plan: PlanSnapshot,
  conversion: CreditConversion,
  { period, lateMicros, lateBeforeMicros = 0n, reading, ...billed }: LateUsage,
): InvoiceLine[] {
  const terms = usageTermsOf(plan)
  if (terms === undefined || (lateMicros === 0n && lateBeforeMicros === 0n)) return []
  const inputs = {
    kind: 'late_usage',
    terms,
    usedUnits: decimalFromMicros(billed.usedMicros),
    lateUnits: decimalFromMicros(lateMicros),
    carriedOverUnits: decimalFromMicros(billed.carriedOverMicros),
    ...usedBefore(billed.usedBeforeMicros),
    ...(lateBeforeMicros === 0n ? {} : { lateBeforeUnits: decimalFromMicros(lateBeforeMicros) }),
    conversion,
    reading,
  } as const
  return [invoiceLine(inputs, `${plan.name}, usage recorded late`, period)]
}

function usedBefore(micros = 0n): { usedBeforeUnits?: string } {
  return micros === 0n ? {} : { usedBeforeUnits: decimalFromMicros(micros) }
}

/**
 * A change of plan within a period, by the new plan's policy; `proportional` where it has none. By `proportional` what is left of
 * the period is charged at the difference of the two prices, and a cheaper plan leaves a credit.
 */
export function prorationLines(
  before: PlanSnapshot,
  after: PlanSnapshot,
  currency: string,
  period: ChargedPeriod,
  changedAt: Date,
  policy: ProrationPolicy = after.terms.prorationPolicy ?? 'proportional',
): InvoiceLine[] {
  const inputs = {
    kind: 'proration',
    policy,
    oldMinor: requirePrices(before, currency).priceMinor.toString(),
    newMinor: requirePrices(after, currency).priceMinor.toString(),
    secondsLeft: wholeSeconds(changedAt, period.end),
    secondsInPeriod: wholeSeconds(period.start, period.end),
  } as const
  const left = { start: changedAt, end: period.end }
  return withoutNothing([invoiceLine(inputs, `Change to ${after.name}`, left)])
}

/** What earlier invoices of the customer left for this one: owed, or a credit where negative. */
export function carriedInLines(amountMinor: bigint): InvoiceLine[] {
  return withoutNothing([
    invoiceLine(
      { kind: 'carried_in', amountMinor: amountMinor.toString() },
      'From earlier invoices',
      null,
    ),
  ])
}

/** What taking a plan for the first time costs beside its price. */
export function setupFeeLines(plan: PlanSnapshot, currency: string): InvoiceLine[] {
  return withoutNothing(setupFee(plan, requirePrices(plan, currency).setupFeeMinor))
}

function setupFee({ name }: PlanSnapshot, feeMinor: bigint): InvoiceLine[] {
  return [invoiceLine(fixed('setup_fee', feeMinor), `${name}, set-up fee`, null)]
}

function fixed<Kind extends 'recurring' | 'setup_fee' | 'one_time'>(
  kind: Kind,
  amountMinor: bigint,
): { kind: Kind; amountMinor: string } {
  return { kind, amountMinor: amountMinor.toString() }
}

function withoutNothing(lines: readonly InvoiceLine[]): InvoiceLine[] {
  return lines.filter(({ amountMinor }) => amountMinor !== 0n)
}

function requirePrices(plan: PlanSnapshot, currency: string) {
  const prices = pricesIn(plan, currency)
  if (prices === undefined) throw new Error(`plan ${plan.reference} has no price in ${currency}`)
  return prices
}

function wholeSeconds(from: Date, to: Date): number {
  return Math.floor(to.getTime() / 1000) - Math.floor(from.getTime() / 1000)
}
