import { lesser, sumOf } from '../money/amounts.ts'
import { invoiceLine, type InvoiceLine } from '../pricing/invoice-line.ts'
import type { DiscountCharge, LineKind } from '../pricing/line-inputs.ts'
import { priceLine } from '../pricing/price-line.ts'
import type { Coupon, Discount } from './coupon.ts'

/** Lines that coupons discount: prices of plans and usage. The lines of a change of plan have discount lines of their own. */
const discountedKinds: ReadonlySet<LineKind> = new Set([
  'recurring',
  'add_on',
  'setup_fee',
  'one_time',
  'usage',
  'late_usage',
  'minimum',
])

/** Lines that charge the usage of a period. A later line of these kinds with a negative amount credits it. */
export const usageKinds: ReadonlySet<LineKind> = new Set(['usage', 'late_usage', 'minimum'])

/** The line of a discount on an invoice. */
export type DiscountLine = { readonly discountRef: string; readonly line: InvoiceLine }

type PricedLine = Pick<InvoiceLine, 'inputs' | 'amountMinor' | 'period'>

/** Returns the start of the period whose usage the line charges, in Unix milliseconds. Undefined if it charges something else. */
export function startOfUsage({
  inputs,
  period,
}: Pick<InvoiceLine, 'inputs' | 'period'>): number | undefined {
  return usageKinds.has(inputs.kind) ? period?.start.getTime() : undefined
}

/**
 * Returns the sum of what coupons discount of the lines. A line with a negative amount is not discounted. Neither is what an invoice
 * charges again of the usage that it credits, as a minimum does: the discount that it had stays.
 */
export function discountedMinor(lines: readonly PricedLine[]): bigint {
  return sumOf(discountedAmounts(lines))
}

/** Returns what coupons discount of each line. */
function discountedAmounts(lines: readonly PricedLine[]): bigint[] {
  const credited = sumByPeriod(lines.filter(({ amountMinor }) => amountMinor < 0n))
  return lines.map((line) => {
    const wholeMinor = wholeAmount(line)
    const start = startOfUsage(line)
    if (start === undefined) return wholeMinor
    const creditedMinor = -(credited.get(start) ?? 0n)
    const againMinor = lesser(creditedMinor, wholeMinor)
    credited.set(start, againMinor - creditedMinor)
    return wholeMinor - againMinor
  })
}

function wholeAmount({ inputs, amountMinor }: PricedLine): bigint {
  return discountedKinds.has(inputs.kind) && amountMinor > 0n ? amountMinor : 0n
}

/** Adds up the lines that charge or credit usage, keyed by the start of their period. */
function sumByPeriod(lines: readonly PricedLine[]): Map<number, bigint> {
  const sums = new Map<number, bigint>()
  for (const line of lines) {
    const start = startOfUsage(line)
    if (start !== undefined) sums.set(start, (sums.get(start) ?? 0n) + line.amountMinor)
  }
  return sums
}

/**
 * Returns the lines of the discounts, in their order. Each takes its part off what the earlier ones left, so the invoice never charges
 * less than nothing. A discount that takes nothing off has no line.
 */
export function discountLines(
  baseMinor: bigint,
  discounts: readonly Pick<Discount, 'reference' | 'coupon'>[],
): DiscountLine[] {
  let leftMinor = baseMinor
  return discounts.flatMap(({ reference, coupon }): DiscountLine[] => {
    const line = invoiceLine(inputsOf(reference, coupon, leftMinor), describeCoupon(coupon), null)
    if (line.amountMinor === 0n) return []
    leftMinor += line.amountMinor
    return [{ discountRef: reference, line }]
  })
}

function inputsOf(
  discount: string,
  { percentOff, amountOffMinor }: Coupon,
  leftMinor: bigint,
): DiscountCharge {
  const of = { kind: 'discount', discount } as const
  const baseMinor = leftMinor.toString()
  if (percentOff !== null) return { ...of, by: 'percent', percent: percentOff, baseMinor }
  return { ...of, by: 'amount', offMinor: (amountOffMinor ?? 0n).toString(), baseMinor }
}

/** Returns what the coupon takes off an amount. Minor units. */
export function couponOffMinor(coupon: Coupon, amountMinor: bigint): bigint {
  return -priceLine(inputsOf('', coupon, amountMinor)).amountMinor
}

/** Returns a text like `Launch, 20% off` or `Launch`. */
export function describeCoupon({ name, percentOff }: Coupon): string {
  return percentOff === null ? name : `${name}, ${percentOff}% off`
}

/**
 * Returns the part of the invoice's discounts that belongs to the lines for which `isPart` is true, in proportion to the discounted
 * amounts and rounded up. The customer was charged the amounts of these lines less this part.
 */
export function discountOn<Line extends PricedLine>(
  lines: readonly Line[],
  isPart: (line: Line) => boolean,
): bigint {
  const amounts = amountsOfDiscounts(lines)
  const offMinor = sumOf(lines.map((line) => -(discountOf(line)?.amountMinor ?? 0n)))
  const partMinor = sumOf(amounts.filter((_, at) => isPart(lines[at]!)))
  return shareOf(offMinor, partMinor, sumOf(amounts))
}

/** Returns what the discounts of an invoice were computed on, for each of its lines. */
function amountsOfDiscounts(lines: readonly PricedLine[]): bigint[] {
  const first = lines.map(discountOf).find((discount) => discount !== undefined)
  const whole = lines.map(wholeAmount)
  // Earlier releases discounted also what an invoice charged again of the usage that it credited.
  return first?.baseMinor === sumOf(whole) ? whole : discountedAmounts(lines)
}

/** Returns what a discount was computed on, and its amount. Undefined for other lines, and for those that continue or take back one. */
function discountOf({
  inputs,
  amountMinor,
}: PricedLine): { readonly baseMinor: bigint; readonly amountMinor: bigint } | undefined {
  if (inputs.kind !== 'discount') return undefined
  if (inputs.by === 'proration' || inputs.by === 'credit') return undefined
  return { baseMinor: BigInt(inputs.baseMinor), amountMinor }
}

/** Returns the part of a discount that belongs to a part of its base, rounded up. */
export function shareOf(offMinor: bigint, partMinor: bigint, baseMinor: bigint): bigint {
  if (baseMinor === 0n || offMinor === 0n) return 0n
  return (offMinor * partMinor + baseMinor - 1n) / baseMinor
}

/** The amount that a discount took off the price of a period. */
export type PeriodDiscount = {
  readonly discount: Pick<Discount, 'reference' | 'coupon'>
  readonly periodStart: Date
  /** Minor units, for the whole period. */
  readonly amountMinor: bigint
  /** What the discount took off other lines of the same invoice, such as a set-up fee. Minor units. */
  readonly elsewhereMinor: bigint
}

/** The seconds of a period that a change of plan charges. */
export type ChangedSeconds = { readonly secondsLeft: number; readonly secondsInPeriod: number }

/** The amounts that a discount takes off the prices of the plans before and after a change, each for the whole period. */
export type ChangedDiscount = {
  readonly discount: PeriodDiscount['discount']
  readonly oldMinor: bigint
  readonly newMinor: bigint
  readonly elsewhereMinor: bigint
}

/**
 * Returns what the discounts of the running period take off the price of the plan after a change. They continue until the end of the
 * period, also those that have no invoices left. An amount that has paid a part of a set-up fee is not taken off once more.
 */
export function changedDiscounts(
  before: readonly PeriodDiscount[],
  newPriceMinor: bigint,
  isNewInScope: (coupon: Coupon) => boolean,
): ChangedDiscount[] {
  let leftMinor = newPriceMinor
  return before.map(({ discount, amountMinor: oldMinor, elsewhereMinor }) => {
    const { coupon } = discount
    const newMinor = isNewInScope(coupon) ? offPrice(coupon, leftMinor, elsewhereMinor) : 0n
    leftMinor -= newMinor
    return { discount, oldMinor, newMinor, elsewhereMinor }
  })
}

function offPrice(coupon: Coupon, priceMinor: bigint, elsewhereMinor: bigint): bigint {
  const offMinor = couponOffMinor(coupon, priceMinor)
  if (coupon.amountOffMinor === null) return offMinor
  const leftMinor = coupon.amountOffMinor - elsewhereMinor
  return leftMinor < offMinor ? leftMinor : offMinor
}

/** Returns the lines that correct a prorated price difference by the discounts of both plans. */
export function proratedDiscountLines(
  changed: readonly ChangedDiscount[],
  seconds: ChangedSeconds,
): InvoiceLine[] {
  return changed
    .map(({ discount: { reference, coupon }, oldMinor, newMinor }) => {
      const inputs: DiscountCharge = {
        ...{ kind: 'discount', discount: reference, by: 'proration', ...seconds },
        ...{ oldMinor: oldMinor.toString(), newMinor: newMinor.toString() },
      }
      return invoiceLine(inputs, describeCoupon(coupon), null)
    })
    .filter(({ amountMinor }) => amountMinor !== 0n)
}

/** The usage of a period as it was billed: the sum of its lines, and the discounts on them. Minor units. */
export type DiscountedUsage = { readonly grossMinor: bigint; readonly offMinor: bigint }

/**
 * Returns the lines that reduce credits of usage by the part that discounts had paid. `billed` is keyed by the start of the period in
 * Unix milliseconds.
 *
 * An invoice can charge the same period again, as a minimum does for usage that is credited. So much of the credit returns nothing to
 * the customer, and what discounts had taken off it stays off.
 */
export function creditedDiscountLines(
  lines: readonly InvoiceLine[],
  billed: ReadonlyMap<number, DiscountedUsage>,
): InvoiceLine[] {
  const chargedAgain = sumByPeriod(lines.filter(({ amountMinor }) => amountMinor > 0n))
  return lines.flatMap((line): InvoiceLine[] => {
    const start = startOfUsage(line)
    const creditMinor = -line.amountMinor
    if (start === undefined || creditMinor <= 0n) return []
    const leftMinor = chargedAgain.get(start) ?? 0n
    const againMinor = lesser(leftMinor, creditMinor)
    chargedAgain.set(start, leftMinor - againMinor)
    const { grossMinor, offMinor } = billed.get(start) ?? { grossMinor: 0n, offMinor: 0n }
    if (grossMinor <= 0n || offMinor <= 0n) return []
    const credit: DiscountCharge = {
      ...{ kind: 'discount', by: 'credit', creditMinor: (creditMinor - againMinor).toString() },
      ...{ offMinor: offMinor.toString(), grossMinor: grossMinor.toString() },
    }
    const back = invoiceLine(credit, 'Discount of the credited usage', line.period)
    return back.amountMinor === 0n ? [] : [back]
  })
}
