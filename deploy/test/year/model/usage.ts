import { boundary, hourMs, indexAt } from './calendar.ts'
import { creditsOf, roundedCents } from './prices.ts'
import type { ModelPurchase, UsageBook, UsageRecord } from './records.ts'

/* Bills of usage (4.4, 4.5): each period once, some time after its end, and what came late with a later bill. */

/** After the end of a period it is waited so long for what is late. */
const graceMs = hourMs

export function emptyBook(anchor: number): UsageBook {
  return { lines: [], billed: new Map(), billedUntil: anchor }
}

/** Bills the next period that is due; undefined where none is. The end of the period. */
export function billNextUsage(
  purchase: ModelPurchase,
  records: readonly UsageRecord[],
  at: number,
): number | undefined {
  const { plan, usageBook: book } = purchase
  const start = book.billedUntil
  if (plan.usage === undefined || start === null) return undefined
  const periodEnd = endOfPeriod(purchase, start)
  const endedAt =
    purchase.endedAt ?? (purchase.end !== null && purchase.end <= at ? purchase.end : null)
  const isLast = endedAt !== null && endedAt <= periodEnd
  const end = isLast ? endedAt : periodEnd
  if (end + graceMs > at) return undefined
  const ofProduct = records.filter(({ productRef }) => productRef === purchase.productRef)
  billLate(purchase, ofProduct)
  book.billedUntil = isLast ? null : end
  if (end <= start) return end
  const units = sum(ofProduct, start, end)
  book.billed.set(start, { end, units })
  const cents = roundedCents(creditsOf(plan.usage, units))
  book.lines.push({ kind: 'usage', start, end, cents })
  return end
}

/** What periods that were billed have got since. */
function billLate({ plan, usageBook }: ModelPurchase, records: readonly UsageRecord[]): void {
  for (const [start, period] of usageBook.billed) {
    const units = sum(records, start, period.end)
    if (units === period.units) continue
    const credits = creditsOf(plan.usage!, units) - creditsOf(plan.usage!, period.units)
    const cents = roundedCents(credits)
    usageBook.lines.push({ kind: 'late_usage', start, end: period.end, cents })
    period.units = units
  }
}

/** Whether the price of the period that is due waits for the usage of the one before. */
export function waitsForUsage({
  plan,
  usageBook,
  nextBilling,
  ...purchase
}: ModelPurchase): boolean {
  const { strategy = 'recurring_first' } = plan
  const { billedUntil } = usageBook
  if (plan.type !== 'hybrid' || strategy === 'recurring_first' || billedUntil === null) return false
  const next = endOfPeriod({ plan, ...purchase }, billedUntil)
  return next <= nextBilling!
}

function endOfPeriod(
  { plan, mode, anchor }: Pick<ModelPurchase, 'plan' | 'mode' | 'anchor'>,
  at: number,
): number {
  return boundary(plan.cycle!, mode, anchor, indexAt(plan.cycle!, mode, anchor, at) + 1)
}

function sum(records: readonly UsageRecord[], from: number, until: number): number {
  return records
    .filter(({ at }) => at >= from && at < until)
    .reduce((total, { units }) => total + units, 0)
}
