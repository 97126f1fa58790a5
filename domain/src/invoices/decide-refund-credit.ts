import { sumOf } from '../money/amounts.ts'
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
}

/**
 * Decides the credit note of a refund that names no lines. The tax gets its share, rounded on the total that is
 * credited so far. The rest is taken off the invoice lines in order, from each line as much as it has left. Returns
 * undefined if nothing is left to credit on this invoice.
 */
export function decideRefundCredit({
  invoice: { lines },
  credited,
  amountMinor,
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
  let restMinor = totalMinor - sumOf(added.map((each) => each.amountMinor))
  const prices = lines.flatMap((line, at): CreditedLine[] => {
    const left = creditableOf(line) - (credited.get(at) ?? 0n)
    const part = left < restMinor ? left : restMinor
    if (part <= 0n) return []
    restMinor -= part
    return [{ line: at, amountMinor: part }]
  })
  const taxMinor = sumOf(tax.map((each) => each.amountMinor))
  return { lines: [...prices, ...tax], totalMinor: totalMinor - restMinor, taxMinor }
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
