import { invoiceLine, totalOf, type InvoiceLine } from '../pricing/invoice-line.ts'
import type { DiscountCharge, LineKind } from '../pricing/line-inputs.ts'
import { priceLine } from '../pricing/price-line.ts'
import type { Coupon, Discount } from './coupon.ts'

/** Lines that coupons discount: prices of plans and usage. The lines of a change of plan have discount lines of their own. */
export const discountedKinds: ReadonlySet<LineKind> = new Set([
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

/** Returns the sum of the lines that coupons discount. Lines with a negative amount are not discounted. */
export function discountedMinor(lines: readonly InvoiceLine[]): bigint {
  return lines.reduce(
    (sum, { inputs, amountMinor }) =>
      discountedKinds.has(inputs.kind) && amountMinor > 0n ? sum + amountMinor : sum,
    0n,
  )
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
export function discountOn<Line extends Pick<InvoiceLine, 'inputs' | 'amountMinor'>>(
  lines: readonly Line[],
  isPart: (line: Line) => boolean,
): bigint {
  let [baseMinor, partMinor, offMinor] = [0n, 0n, 0n]
  for (const line of lines) {
    const { inputs, amountMinor } = line
    if (inputs.kind === 'discount') offMinor += takenOff(inputs, amountMinor)
    if (!discountedKinds.has(inputs.kind) || amountMinor <= 0n) continue
    baseMinor += amountMinor
    if (isPart(line)) partMinor += amountMinor
  }
  return shareOf(offMinor, partMinor, baseMinor)
}

/** Returns the part of a discount that belongs to a part of its base, rounded up. */
export function shareOf(offMinor: bigint, partMinor: bigint, baseMinor: bigint): bigint {
  if (baseMinor === 0n || offMinor === 0n) return 0n
  return (offMinor * partMinor + baseMinor - 1n) / baseMinor
}

function takenOff({ by }: DiscountCharge, amountMinor: bigint): bigint {
  return by === 'percent' || by === 'amount' ? -amountMinor : 0n
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
 * Unix milliseconds. `taken`: the discount lines of the same invoice.
 *
 * An invoice can charge the same period again, as a minimum does for usage that is credited. So much of the credit returns nothing to
 * the customer, and what discounts had taken off it stays off, less what the discounts of this invoice take off the new charge.
 */
export function creditedDiscountLines(
  lines: readonly InvoiceLine[],
  billed: ReadonlyMap<number, DiscountedUsage>,
  taken: readonly InvoiceLine[],
): InvoiceLine[] {
  const baseMinor = discountedMinor(lines)
  const takenMinor = -totalOf(taken)
  const chargedAgain = new Map<number, { leftMinor: bigint; readonly wholeMinor: bigint }>()
  for (const [startMs] of billed) {
    const wholeMinor = discountedMinor(
      lines.filter(
        ({ inputs, period }) => usageKinds.has(inputs.kind) && period?.start.getTime() === startMs,
      ),
    )
    chargedAgain.set(startMs, { leftMinor: wholeMinor, wholeMinor })
  }
  return lines.flatMap(({ inputs, amountMinor, period }) => {
    const startMs = period?.start.getTime() ?? Number.NaN
    const [usage, again] = [billed.get(startMs), chargedAgain.get(startMs)]
    if (!usageKinds.has(inputs.kind) || amountMinor >= 0n) return []
    if (usage === undefined || again === undefined) return []
    const offsetMinor = again.leftMinor < -amountMinor ? again.leftMinor : -amountMinor
    again.leftMinor -= offsetMinor
    // The discounts of the invoice are shared by all that it charges.
    const offNowMinor = shareOf(takenMinor, again.wholeMinor, baseMinor)
    const keptMinor = shareOf(offNowMinor, offsetMinor, again.wholeMinor)
    const { grossMinor, offMinor } = usage
    const hadDiscount = grossMinor > 0n && offMinor > 0n
    const credit: DiscountCharge = {
      ...{ kind: 'discount', by: 'credit', creditMinor: (-amountMinor - offsetMinor).toString() },
      ...{ offMinor: hadDiscount ? offMinor.toString() : '0' },
      ...{ grossMinor: hadDiscount ? grossMinor.toString() : '1' },
      ...(keptMinor === 0n ? {} : { againMinor: keptMinor.toString() }),
    }
    const line = invoiceLine(credit, 'Discount of the credited usage', period)
    return line.amountMinor === 0n ? [] : [line]
  })
}
