import { startOfUsage } from '../coupons/discount-lines.ts'
import { lesser, sumOf } from '../money/amounts.ts'
import { divideRounded } from '../money/decimal.ts'
import { isContained, totalOf, type InvoiceLine } from '../pricing/invoice-line.ts'
import { creditableOf, type CreditedLine, type IssuableCredit } from './decide-credit.ts'
import type { InvoiceWithLines } from './invoice.ts'

export type RefundToCredit = {
  readonly invoice: InvoiceWithLines
  /** What earlier credit notes have credited, keyed by the index of the invoice line. Minor units. */
  readonly credited: ReadonlyMap<number, bigint>
  /** Refunded amount that no credit note covers yet. Minor units, greater than 0. */
  readonly amountMinor: bigint
  /** What later bills have left of the usage of periods (see `CreditedLater`). */
  readonly creditableByPeriod: ReadonlyMap<number, bigint>
}

/**
 * Decides the credit note of a refund that names no lines. The tax gets its share, rounded on the total that is
 * credited so far. The rest is taken off the invoice lines in order, from each line as much as it has left. Usage that later bills have
 * credited comes last, because its period would be returned twice. Returns undefined if nothing is left to credit on this invoice.
 */
export function decideRefundCredit({
  invoice: { lines },
  credited,
  amountMinor,
  creditableByPeriod,
}: RefundToCredit): IssuableCredit | undefined {
  const { chargedMinor, creditedMinor } = sumCharged(lines, credited)
  const leftMinor = chargedMinor - creditedMinor
  const totalMinor = amountMinor < leftMinor ? amountMinor : leftMinor
  if (totalMinor <= 0n) return undefined
  const upToMinor = creditedMinor + totalMinor
  const tax = lines.flatMap((line, at): CreditedLine[] => {
    if (line.inputs.kind !== 'tax') return []
    const before = credited.get(at) ?? 0n
    const part = divideRounded(line.amountMinor * upToMinor, chargedMinor) - before
    return part > 0n ? [{ line: at, amountMinor: part < totalMinor ? part : totalMinor }] : []
  })
  const added = tax.filter(({ line }) => !isContained(lines[line]!))
  const priceMinor = totalMinor - sumOf(added.map((each) => each.amountMinor))
  const prices = takenOff(lines, credited, priceMinor, creditableByPeriod)
  const restMinor = priceMinor - sumOf(prices.map((each) => each.amountMinor))
  const taxMinor = sumOf(tax.map((each) => each.amountMinor))
  return { lines: [...prices, ...tax], totalMinor: totalMinor - restMinor, taxMinor }
}

/**
 * Takes the amount off the lines in order, and off usage that later bills have credited only if the other lines have too little left.
 * `isTaken` selects the lines.
 */
export function takenOff(
  lines: readonly InvoiceLine[],
  credited: ReadonlyMap<number, bigint>,
  amountMinor: bigint,
  creditableByPeriod: ReadonlyMap<number, bigint>,
  isTaken: (line: InvoiceLine) => boolean = () => true,
): CreditedLine[] {
  let restMinor = amountMinor
  const taken = lines.map(() => 0n)
  const take = (limits: Map<number, bigint>) => {
    for (const [at, line] of lines.entries()) {
      if (!isTaken(line)) continue
      const start = startOfUsage(line)
      const limitMinor = start === undefined ? undefined : limits.get(start)
      const leftMinor = creditableOf(line) - (credited.get(at) ?? 0n) - taken[at]!
      const most = lesser(leftMinor, restMinor)
      const partMinor = limitMinor === undefined ? most : lesser(most, limitMinor)
      if (partMinor <= 0n) continue
      taken[at]! += partMinor
      restMinor -= partMinor
      if (limitMinor !== undefined) limits.set(start!, limitMinor - partMinor)
    }
  }
  take(new Map(creditableByPeriod))
  take(new Map())
  return taken.flatMap((minor, line) => (minor > 0n ? [{ line, amountMinor: minor }] : []))
}

/** Returns what the invoice itself charges, and how much of it was credited, both with tax. `credited` is keyed by line. */
export function sumCharged(
  lines: readonly InvoiceLine[],
  credited: ReadonlyMap<number, bigint>,
): { readonly chargedMinor: bigint; readonly creditedMinor: bigint } {
  const chargedMinor = totalOf(lines.filter(({ inputs }) => inputs.kind !== 'carried_in'))
  const own = [...credited].filter(([line]) => !isContained(lines[line]!))
  return { chargedMinor, creditedMinor: sumOf(own.map(([, amount]) => amount)) }
}
