import { discountOn, usageKinds } from '../coupons/discount-lines.ts'
import { atLeastZero, lesser, sumOf } from '../money/amounts.ts'
import { divideRounded } from '../money/decimal.ts'
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
  /** Part that was written off and has not been paid since. */
  readonly lostMinor: bigint
  /** Taken from the customer's balance because the same money was returned twice, beyond what its credit notes had given there. */
  readonly takenMinor: bigint
}

/** Amount that later invoices have credited, and the part of it that is tax. Minor units. */
export type CreditedLater = { readonly amountMinor: bigint; readonly taxMinor: bigint }

/**
 * Returns what later bills have credited of the usage that the bill charges, with tax and after discounts, because the usage was
 * corrected or packs paid for it later. `bills`: all bills of the purchase with usage of the same periods, oldest first.
 *
 * A credit names its period, and not the bill that charged too much. So only the part counts for this bill that the other bills of the
 * period cannot have charged. Whatever is returned of each of them, the customer gets back at most what all bills of a period have
 * charged.
 */
export function decideCreditedLater(
  reference: string,
  bills: readonly BillOfUsage[],
): CreditedLater {
  const at = bills.findIndex((each) => each.reference === reference)
  const own = bills[at]
  if (own === undefined) return nothing
  const parts = periodsOf(own).map((start) => creditedIn(start, own, bills, at))
  return {
    amountMinor: sumOf(parts.map((part) => part.amountMinor)),
    taxMinor: sumOf(parts.map((part) => part.taxMinor)),
  }
}

const nothing: CreditedLater = { amountMinor: 0n, taxMinor: 0n }

function creditedIn(
  start: number,
  own: BillOfUsage,
  bills: readonly BillOfUsage[],
  at: number,
): CreditedLater {
  const chargedMinor = chargedIn(own, start)
  const counted = bills.flatMap((bill, index) =>
    index > at && !bill.isVoid && netIn(bill, start) < 0n ? [{ bill, index }] : [],
  )
  const first = counted[0]
  if (chargedMinor <= 0n || first === undefined) return nothing
  const credits = counted.map(({ bill }) => creditOf(bill, start, own))
  const creditMinor = sumOf(credits.map((credit) => credit.amountMinor))
  const others = bills.filter((bill) => bill !== own)
  // A credit can only credit what was charged before it.
  const earlier = bills.slice(0, first.index).filter((bill) => bill !== own)
  const elsewhereMinor =
    sumOf(earlier.map((bill) => keptIn(bill, start))) +
    sumOf(others.map((bill) => takenIn(bill, start)))
  const ownMinor = atLeastZero(creditMinor - elsewhereMinor)
  const amountMinor = lesser(ownMinor, chargedMinor)
  const taxMinor = sumOf(credits.map((credit) => credit.taxMinor))
  return { amountMinor, taxMinor: divideRounded(amountMinor * taxMinor, creditMinor) }
}

/** Returns what the bill credits of the period, with tax. */
function creditOf(bill: BillOfUsage, start: number, own: BillOfUsage): CreditedLater {
  const { lines } = bill
  const netMinor = -netIn(bill, start)
  const baseMinor = baseOf(lines)
  // An invoice whose charges and credits add up to 0 has no tax line. Its tax is estimated with the rate of the credited bill.
  if (baseMinor === 0n) {
    const amountMinor = withTax(own, netMinor)
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

/** Returns what the bill charges for usage of the period, with tax and after its discounts. 0 if it charges none. */
function chargedIn(bill: BillOfUsage, start: number): bigint {
  return withTax(bill, atLeastZero(discountedIn(bill, start)))
}

/** Returns what the customer still owes or has paid of the usage of the period, as far as it was not returned. */
function keptIn(bill: BillOfUsage, start: number): bigint {
  if (bill.isVoid) return 0n
  const { lines, credited, lostMinor } = bill
  const notedMinor = sumOf(
    [...credited].map(([line, minor]) => (isOfPeriod(lines[line]!, start) ? minor : 0n)),
  )
  const netMinor = atLeastZero(discountedIn(bill, start) - notedMinor)
  const { chargedMinor, creditedMinor } = sumCharged(lines, credited)
  return atLeastZero(lesser(withTax(bill, netMinor), chargedMinor - creditedMinor - lostMinor))
}

/** Returns what was certainly taken from the balance for a credit of this period, and not of others that the bill charges. */
function takenIn(bill: BillOfUsage, start: number): bigint {
  if (bill.takenMinor === 0n) return 0n
  const otherStarts = periodsOf(bill).filter((each) => each !== start)
  return atLeastZero(bill.takenMinor - sumOf(otherStarts.map((each) => chargedIn(bill, each))))
}

/** Returns the price with its share of the tax, rounded up. */
function withTax({ lines }: BillOfUsage, netMinor: bigint): bigint {
  const baseMinor = baseOf(lines)
  if (netMinor <= 0n || baseMinor <= 0n) return netMinor
  const allMinor = totalOf(lines.filter(({ inputs }) => inputs.kind !== 'carried_in'))
  return (netMinor * allMinor + baseMinor - 1n) / baseMinor
}

function discountedIn(bill: BillOfUsage, start: number): bigint {
  return netIn(bill, start) - discountOn(bill.lines, (line) => isOfPeriod(line, start))
}

/** Returns the sum of the lines for usage of the period, negative if they credit it. */
function netIn({ lines }: BillOfUsage, start: number): bigint {
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

function isOfPeriod({ inputs, period }: InvoiceLine, start: number): boolean {
  return usageKinds.has(inputs.kind) && period?.start.getTime() === start
}

/** Returns the starts of the periods whose usage the bill charges or credits, in Unix milliseconds. */
function periodsOf({ lines }: BillOfUsage): number[] {
  const starts = lines.flatMap(({ inputs, period }) =>
    usageKinds.has(inputs.kind) && period !== null ? [period.start.getTime()] : [],
  )
  return [...new Set(starts)]
}

/** Returns the sum of what the invoice charges, before tax. */
function baseOf(lines: readonly InvoiceLine[]): bigint {
  return totalOf(lines.filter(({ inputs }) => !['tax', 'carried_in'].includes(inputs.kind)))
}
