import { discountOn, startOfUsage } from '../coupons/discount-lines.ts'
import { atLeastZero, sumOf } from '../money/amounts.ts'
import { isContained, totalOf, type InvoiceLine } from '../pricing/invoice-line.ts'
import { taxMinorOnBase } from '../pricing/tax-line.ts'
import { sumCharged } from './decide-refund-credit.ts'

/** An invoice with usage of a purchase. Amounts are minor units. */
export type BillOfUsage = {
  readonly reference: string
  /** A void invoice charges and credits nothing. */
  readonly isVoid: boolean
  readonly lines: readonly InvoiceLine[]
  /** Amounts that the credit notes of the invoice have credited, keyed by the index of the line. */
  readonly credited: ReadonlyMap<number, bigint>
  /**
   * Part that was written off and has not been paid since, or whose payment a bank has withdrawn or may withdraw. What was taken from
   * the balance for a withdrawal is not part of it, because its credit has returned it before.
   */
  readonly lostMinor: bigint
  /**
   * Credit of later bills that was taken from the customer's balance because this bill was given up. Negative if the balance got back
   * more, because the bill that held the credit became void after this one was refunded.
   */
  readonly takenMinor: bigint
}

/** Amount that an invoice credits, and the part of it that is tax. Minor units. */
export type TaxedCredit = { readonly amountMinor: bigint; readonly taxMinor: bigint }

/** Returns the starts of the periods whose usage the bill charges or credits, in Unix milliseconds. */
export function periodsOf({ lines }: Pick<BillOfUsage, 'lines'>): number[] {
  return [...new Set(lines.flatMap((line) => startOfUsage(line) ?? []))]
}

function isOfPeriod(line: InvoiceLine, start: number): boolean {
  return startOfUsage(line) === start
}

/** Returns the sum of the lines for usage of the period, negative if they credit it. */
export function netIn({ lines }: Pick<BillOfUsage, 'lines'>, start: number): bigint {
  return sumOf(
    lines.map((line) => {
      const { inputs, amountMinor } = line
      const isCredit = inputs.kind === 'discount' && inputs.by === 'credit'
      return isOfPeriod(line, start) || (isCredit && line.period?.start.getTime() === start)
        ? amountMinor
        : 0n
    }),
  )
}

/** Returns what the bill charges for usage of the period, after its discounts and without the tax that is added. At least 0. */
export function priceIn(bill: BillOfUsage, start: number): bigint {
  const offMinor = discountOn(bill.lines, (line) => isOfPeriod(line, start))
  return atLeastZero(netIn(bill, start) - offMinor)
}

/** Returns the part of `priceIn` that no credit note has credited. */
export function uncreditedPriceIn(bill: BillOfUsage, start: number): bigint {
  const notedMinor = sumOf(
    [...bill.credited].map(([line, minor]) => (isOfPeriod(bill.lines[line]!, start) ? minor : 0n)),
  )
  return atLeastZero(priceIn(bill, start) - notedMinor)
}

/** Returns what the bill credits of the usage of the period, with tax. `rateOf` is a bill that has charged the period. */
export function creditIn(
  bill: Pick<BillOfUsage, 'lines'>,
  start: number,
  rateOf: Pick<BillOfUsage, 'lines'>,
): TaxedCredit {
  const { lines } = bill
  const netMinor = -netIn(bill, start)
  const baseMinor = baseOf(lines)
  // An invoice whose charges and credits add up to 0 has no tax line. Its tax is estimated with the rate of a credited bill.
  if (baseMinor === 0n) {
    const amountMinor = withTax(rateOf, netMinor)
    return { amountMinor, taxMinor: amountMinor - netMinor }
  }
  let [addedMinor, taxMinor] = [0n, 0n]
  for (const line of lines) {
    if (line.inputs.kind !== 'tax') continue
    // The tax that the invoice would have without the credit, less the tax that it has.
    const partMinor = taxMinorOnBase(line.inputs, baseMinor + netMinor) - line.amountMinor
    taxMinor += partMinor
    if (!isContained(line)) addedMinor += partMinor
  }
  return { amountMinor: netMinor + addedMinor, taxMinor }
}

/**
 * Returns what the bill has charged and the customer still owes or has paid of it. What the bill credits of other periods has paid a part
 * of its charges, so it counts as paid.
 */
export function keptOf(bill: BillOfUsage): bigint {
  if (bill.isVoid) return atLeastZero(bill.takenMinor)
  const { chargedMinor, creditedMinor } = sumCharged(bill.lines, bill.credited)
  const ownMinor = chargedMinor + creditsIn(bill).amountMinor
  return atLeastZero(ownMinor - creditedMinor - atLeastZero(bill.lostMinor) + bill.takenMinor)
}

/** Returns all that the bill credits of the usage of periods, with tax. */
export function creditsIn(bill: Pick<BillOfUsage, 'lines'>): TaxedCredit {
  const credited = periodsOf(bill).filter((start) => netIn(bill, start) < 0n)
  const credits = credited.map((start) => creditIn(bill, start, bill))
  return {
    amountMinor: sumOf(credits.map(({ amountMinor }) => amountMinor)),
    taxMinor: sumOf(credits.map(({ taxMinor }) => taxMinor)),
  }
}

/** Returns the price with its share of the tax that is added, rounded up. */
export function withTax({ lines }: Pick<BillOfUsage, 'lines'>, priceMinor: bigint): bigint {
  return scaled(priceMinor, totalOf(lines.filter(isOwn)), baseOf(lines))
}

/** Returns the amount without its share of the tax that is added, rounded up. */
export function withoutTax({ lines }: Pick<BillOfUsage, 'lines'>, amountMinor: bigint): bigint {
  return scaled(amountMinor, baseOf(lines), totalOf(lines.filter(isOwn)))
}

function scaled(amountMinor: bigint, toMinor: bigint, fromMinor: bigint): bigint {
  const [to, from] = fromMinor < 0n ? [-toMinor, -fromMinor] : [toMinor, fromMinor]
  if (amountMinor <= 0n || from === 0n || to <= 0n) return amountMinor
  return (amountMinor * to + from - 1n) / from
}

/** Returns the sum of what the invoice charges, before tax. */
function baseOf(lines: readonly InvoiceLine[]): bigint {
  return totalOf(lines.filter((line) => isOwn(line) && line.inputs.kind !== 'tax'))
}

function isOwn({ inputs }: InvoiceLine): boolean {
  return inputs.kind !== 'carried_in'
}
