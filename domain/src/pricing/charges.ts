import type { ProrationPolicy } from '@tollgate/schemas/http/plan-terms'
import { decimalFromMicros } from '@tollgate/schemas/quantity'
import { addOnsPrice, addOnsSetupFee, attachedTo } from '../plans/add-ons.ts'
import type { AttachedAddOn } from '../plans/plan.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { billedCharges, type BilledCharge } from './billed-charges.ts'
import { isChargeTerms } from './charge-terms.ts'
import { invoiceLine, type ChargedPeriod, type InvoiceLine } from './invoice-line.ts'
import type {
  AddOnCharge,
  CreditConversion,
  LateUsageCharge,
  ProratedCharge,
  UsageReading,
} from './line-inputs.ts'
import { pricesIn } from './plan-prices.ts'

/* Charges of a purchase, as lines of an invoice in the currency of the purchase. */

/**
 * Returns the lines for the base price of a period, which is charged when the period begins. Empty for a plan without a base price.
 */
export function recurringLines(
  plan: PlanSnapshot,
  currency: string,
  period: ChargedPeriod,
  isFirstCharge: boolean,
): InvoiceLine[] {
  const { priceMinor } = requirePrices(plan, currency)
  const attached = attachedTo(plan)
  const ownMinor = priceMinor - addOnsPrice(attached)
  const price = invoiceLine(fixedInputs('recurring', ownMinor), plan.name, period)
  return withoutZeroLines([
    price,
    ...attached.map((addOn) => addOnLine(addOn, period)),
    ...(isFirstCharge ? setupFeeLines(plan, currency) : []),
  ])
}

function addOnLine({ reference, name, price, quantity }: AttachedAddOn, period: ChargedPeriod) {
  const inputs: AddOnCharge = {
    ...{ kind: 'add_on', addOn: reference },
    ...{ unitMinor: price.toString(), quantity: quantity.toString() },
  }
  return invoiceLine(inputs, name, period)
}

export function oneTimeLines(plan: PlanSnapshot, currency: string): InvoiceLine[] {
  const { priceMinor, setupFeeMinor } = requirePrices(plan, currency)
  const price = invoiceLine(fixedInputs('one_time', priceMinor), plan.name, null)
  return withoutZeroLines([price, ...setupFee(plan, setupFeeMinor)])
}

/**
 * Returns the lines for `paidMinor`, the payment that started a plan: its price for the first period or for all time, and the
 * set-up fee if the payment includes it.
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
  const price = invoiceLine(fixedInputs(kind, paidMinor - feeMinor), plan.name, period)
  return withoutZeroLines([price, ...setupFee(plan, feeMinor)])
}

/** Returns the line for purchased credits. `plan` is undefined if they were bought for no plan. */
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

/** Amounts in 10^-6 units. */
export type PeriodUsage = {
  readonly period: ChargedPeriod
  readonly usedMicros: bigint
  /** Units carried over from the period before. */
  readonly carriedOverMicros: bigint
  /** Units of the shared allowance that earlier purchases used; absent if there are none. */
  readonly usedBeforeMicros?: bigint | undefined
  /** The part of `usedMicros` that packs paid for; absent if there is none. */
  readonly packMicros?: bigint | undefined
  /** `usedMicros` by row of a matrix: one number for each row, and the last one for all other records. */
  readonly rowMicros?: readonly bigint[] | undefined
  /** The part of the period that the line charges, if the period is not billed as a whole. */
  readonly part?: PeriodPart | undefined
  readonly reading: UsageReading
}

/** The part of a period that a bill within it charges. */
export type PeriodPart = {
  /** When the bill before was made. Undefined for the first bill of the period. */
  readonly since: Date | undefined
  /** Up to when the bill charges usage. Undefined for the bill at the end of the period. */
  readonly until: Date | undefined
}

/**
 * Returns the line for usage of a period that has ended, or of a part of it. `key` is the charge, or null for a plan without charges.
 * Empty if usage is not billed. A period that costs nothing has a line too, because it records up to where usage was billed, and later
 * usage is late.
 */
export function usageLines(
  plan: PlanSnapshot,
  conversion: CreditConversion,
  {
    period,
    usedMicros,
    carriedOverMicros,
    usedBeforeMicros,
    packMicros,
    rowMicros,
    part,
    reading,
  }: PeriodUsage,
  key: string | null = null,
): InvoiceLine[] {
  const charge = chargeOf(plan, key, conversion)
  if (charge === undefined) return []
  const inputs = {
    kind: 'usage',
    ...(key === null ? {} : { charge: key }),
    terms: charge.terms,
    usedUnits: decimalFromMicros(usedMicros),
    ...(rowMicros === undefined ? {} : { rowUnits: rowMicros.map(decimalFromMicros) }),
    carriedOverUnits: decimalFromMicros(carriedOverMicros),
    ...usedBeforeInput(usedBeforeMicros),
    ...packInput(packMicros),
    conversion,
    reading,
  } as const
  return [invoiceLine(inputs, `${plan.name}, ${charge.name ?? 'usage'}${partText(part)}`, period)]
}

/** Returns the end of a line's description, such as `, from 2026-11-12 14:03 until 2026-11-20 09:30 UTC`. */
function partText(part: PeriodPart | undefined): string {
  const since = part?.since === undefined ? '' : ` from ${minuteText(part.since)}`
  const until = part?.until === undefined ? '' : ` until ${minuteText(part.until)}`
  return since + until === '' ? '' : `,${since}${until} UTC`
}

function minuteText(instant: Date): string {
  return instant.toISOString().slice(0, 16).replace('T', ' ')
}

/**
 * `usedMicros`: usage of the period billed before. `lateMicros`: usage that is new. `lateBeforeMicros`: new usage of earlier
 * purchases in the shared allowance.
 */
export type LateUsage = PeriodUsage & {
  readonly lateMicros: bigint
  readonly lateBeforeMicros?: bigint | undefined
  /** The part of `lateMicros` that packs paid for; absent if there is none. */
  readonly latePackMicros?: bigint | undefined
  /** `lateMicros` by row of a matrix. */
  readonly lateRowMicros?: readonly bigint[] | undefined
  /** Change of `carriedOverMicros` since the bill before; absent if there is none. */
  readonly lateCarriedOverMicros?: bigint | undefined
  /** The amount of all earlier lines of the charge in the period. Given for plans that bill at an amount of unbilled usage. */
  readonly billedMinor?: bigint | undefined
  /** The part of `billedMinor` that was credited, refunded or given up, which a lower price does not return again. */
  readonly givenUpMinor?: bigint | undefined
}

/**
 * Returns the line for usage that arrived after its period was billed, or after a bill within the period, priced by the plan of that
 * period.
 */
export function lateUsageLines(
  plan: PlanSnapshot,
  conversion: CreditConversion,
  late: LateUsage,
  key: string | null = null,
): InvoiceLine[] {
  const charge = chargeOf(plan, key, conversion)
  if (charge === undefined) return []
  const { period, lateMicros, lateBeforeMicros = 0n, latePackMicros = 0n } = late
  const { reading, rowMicros, lateRowMicros, lateCarriedOverMicros = 0n, billedMinor } = late
  const inputs = {
    kind: 'late_usage',
    ...(key === null ? {} : { charge: key }),
    terms: charge.terms,
    usedUnits: decimalFromMicros(late.usedMicros),
    ...(rowMicros === undefined ? {} : { rowUnits: rowMicros.map(decimalFromMicros) }),
    lateUnits: decimalFromMicros(lateMicros),
    ...(lateRowMicros === undefined ? {} : { lateRowUnits: lateRowMicros.map(decimalFromMicros) }),
    carriedOverUnits: decimalFromMicros(late.carriedOverMicros),
    ...usedBeforeInput(late.usedBeforeMicros),
    ...packInput(late.packMicros),
    ...(latePackMicros === 0n ? {} : { latePackUnits: decimalFromMicros(latePackMicros) }),
    ...(lateBeforeMicros === 0n ? {} : { lateBeforeUnits: decimalFromMicros(lateBeforeMicros) }),
    ...(lateCarriedOverMicros === 0n
      ? {}
      : { lateCarriedOverUnits: decimalFromMicros(lateCarriedOverMicros) }),
    ...(billedMinor === undefined ? {} : { billedMinor: billedMinor.toString() }),
    conversion,
    reading,
  } as const
  const description = `${plan.name}, ${lateName(charge, late.part)}`
  const line = cappedCredit(invoiceLine(inputs, description, period), inputs, late)
  // The rest of a period can change its price without usage: a higher cap charges usage that the cap before had left out.
  const isCharged = isLate(late) || (billedMinor !== undefined && line.amountMinor !== 0n)
  return isCharged ? [line] : []
}

/** Returns the line with a credit of at most the amount that the customer still owes or has paid for the period. */
function cappedCredit(
  line: InvoiceLine,
  inputs: LateUsageCharge,
  { billedMinor, givenUpMinor = 0n }: LateUsage,
): InvoiceLine {
  if (billedMinor === undefined || givenUpMinor === 0n) return line
  const keptMinor = billedMinor > givenUpMinor ? billedMinor - givenUpMinor : 0n
  const overMinor = -line.amountMinor - keptMinor
  if (line.amountMinor >= 0n || overMinor <= 0n) return line
  // The line states less as billed, so that it can be computed again from its inputs.
  const counted = { ...inputs, billedMinor: (billedMinor - overMinor).toString() }
  return invoiceLine(counted, line.description, line.period)
}

function lateName({ name }: BilledCharge, part: PeriodPart | undefined): string {
  if (part !== undefined) return `${name ?? 'usage'}${partText(part)}`
  return name === null ? 'usage recorded late' : `${name}, recorded late`
}

/** Corrections can move units between the rows of a matrix without a change of their sum. */
function isLate(late: LateUsage): boolean {
  const { lateMicros, lateBeforeMicros = 0n, latePackMicros = 0n, lateRowMicros = [] } = late
  const { lateCarriedOverMicros = 0n } = late
  const changes = [lateMicros, lateBeforeMicros, latePackMicros, lateCarriedOverMicros]
  return [...changes, ...lateRowMicros].some((micros) => micros !== 0n)
}

/** Prices in minor units are those of the plan's currency, which its purchases therefore have. */
function chargeOf(
  plan: PlanSnapshot,
  key: string | null,
  { currency }: CreditConversion,
): BilledCharge | undefined {
  const charge = billedCharges(plan).find((each) => each.key === key)
  if (charge === undefined || !isChargeTerms(charge.terms)) return charge
  if (charge.terms.rate.pricedIn === 'minor' && currency !== plan.currency) {
    throw new Error(`charge ${key} of plan ${plan.reference} has no price in ${currency}`)
  }
  return charge
}

function usedBeforeInput(micros = 0n): { usedBeforeUnits?: string } {
  return micros === 0n ? {} : { usedBeforeUnits: decimalFromMicros(micros) }
}

function packInput(micros = 0n): { packUnits?: string } {
  return micros === 0n ? {} : { packUnits: decimalFromMicros(micros) }
}

/**
 * Returns the line for a change of plan within a period, by the new plan's policy, `proportional` by default. `proportional`
 * charges the difference of the two prices for the rest of the period. A cheaper plan gives a credit. `oldMinor`: what was charged for the
 * whole period, before discounts.
 */
export function prorationLines(
  oldMinor: bigint,
  after: PlanSnapshot,
  currency: string,
  period: ChargedPeriod,
  changedAt: Date,
  policy: ProrationPolicy = after.terms.prorationPolicy ?? 'proportional',
): InvoiceLine[] {
  const inputs = {
    kind: 'proration',
    policy,
    oldMinor: oldMinor.toString(),
    newMinor: requirePrices(after, currency).priceMinor.toString(),
    secondsLeft: wholeSeconds(changedAt, period.end),
    secondsInPeriod: wholeSeconds(period.start, period.end),
  } as const
  const left = { start: changedAt, end: period.end }
  return withoutZeroLines([invoiceLine(inputs, `Change to ${after.name}`, left)])
}

/** Returns the line for the amount carried over from the customer's earlier invoices; a credit is negative. */
export function carriedInLines(amountMinor: bigint): InvoiceLine[] {
  return withoutZeroLines([
    invoiceLine(
      { kind: 'carried_in', amountMinor: amountMinor.toString() },
      'From earlier invoices',
      null,
    ),
  ])
}

/** Returns the lines for the set-up fees of a plan and of its add-ons. */
export function setupFeeLines(plan: PlanSnapshot, currency: string): InvoiceLine[] {
  const attached = attachedTo(plan)
  const ownMinor = requirePrices(plan, currency).setupFeeMinor - addOnsSetupFee(attached)
  const ofAddOns = attached.flatMap((addOn) => setupFee(addOn, BigInt(addOn.setupFee)))
  return withoutZeroLines([...setupFee(plan, ownMinor), ...ofAddOns])
}

/** Prices of one period of a purchase, before and after a change of its add-ons. Minor units. */
export type AddOnPrices = { readonly oldMinor: bigint; readonly newMinor: bigint }

/** Returns the line for a change of add-ons within a period: the difference of the prices from `since` to the end of the period. */
export function addOnChangeLines(
  { oldMinor, newMinor }: AddOnPrices,
  after: PlanSnapshot,
  period: ChargedPeriod,
  since: Date,
): InvoiceLine[] {
  const inputs: ProratedCharge = {
    ...{ kind: 'proration', ofAddOns: true, policy: 'proportional' },
    ...{ oldMinor: oldMinor.toString(), newMinor: newMinor.toString() },
    secondsLeft: wholeSeconds(since, period.end),
    secondsInPeriod: wholeSeconds(period.start, period.end),
  }
  const left = { start: since, end: period.end }
  return withoutZeroLines([invoiceLine(inputs, `Change to ${nameWithAddOns(after)}`, left)])
}

/** Returns a text like `Pro with 2 × Extra requests`. */
function nameWithAddOns(plan: PlanSnapshot): string {
  const names = attachedTo(plan).map(({ name, quantity }) => `${quantity} × ${name}`)
  return names.length === 0
    ? `${plan.name} without add-ons`
    : `${plan.name} with ${names.join(', ')}`
}

function setupFee({ name }: { readonly name: string }, feeMinor: bigint): InvoiceLine[] {
  return [invoiceLine(fixedInputs('setup_fee', feeMinor), `${name}, set-up fee`, null)]
}

function fixedInputs<Kind extends 'recurring' | 'setup_fee' | 'one_time'>(
  kind: Kind,
  amountMinor: bigint,
): { kind: Kind; amountMinor: string } {
  return { kind, amountMinor: amountMinor.toString() }
}

function withoutZeroLines(lines: readonly InvoiceLine[]): InvoiceLine[] {
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
