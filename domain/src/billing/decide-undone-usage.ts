import { usageKinds } from '../coupons/discount-lines.ts'
import { withoutTax } from '../invoices/bill-of-usage.ts'
import type { CreditedLine } from '../invoices/decide-credit.ts'
import type { CreditedLater } from '../invoices/decide-credited-later.ts'
import { takenOff } from '../invoices/decide-refund-credit.ts'
import { totalOf, type InvoiceLine } from '../pricing/invoice-line.ts'

/** A bill of usage whose change of plan is undone. Minor units. */
type UndoneBill = {
  readonly lines: readonly InvoiceLine[]
  /** What its credit notes have credited, keyed by the index of the line. */
  readonly credited: ReadonlyMap<number, bigint>
  readonly later: Pick<CreditedLater, 'returnedMinor' | 'creditableByPeriod'>
  /** On its way back to the card, with tax. Once it arrives, the customer would have this amount twice. */
  readonly pendingMinor: bigint
}

/** Returns what is credited of the usage of the bill: all that was not credited or refunded before. Without the tax that is added. */
export function decideUndoneUsage({
  lines,
  credited,
  later,
  pendingMinor,
}: UndoneBill): CreditedLine[] {
  // A line can be a credit itself, for example because a pack was bought. The other lines are credited less by it.
  let leftMinor = totalOf(lines.filter(isUsage))
  // A bill within a period charges only usage, so all of its discounts are discounts of usage.
  leftMinor += totalOf(lines.filter(({ inputs }) => inputs.kind === 'discount'))
  for (const [line, minor] of credited) if (isUsage(lines[line]!)) leftMinor -= minor
  leftMinor -= withoutTax({ lines }, later.returnedMinor + pendingMinor)
  return takenOff(lines, credited, leftMinor, later.creditableByPeriod, isUsage)
}

/** Returns whether the line charges usage. A line of the plan's minimum does, because it charges the rest up to the minimum. */
export function isUsage({ inputs }: InvoiceLine): boolean {
  return usageKinds.has(inputs.kind)
}
