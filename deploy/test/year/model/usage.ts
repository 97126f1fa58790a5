import { boundary, dayMs, hourMs, indexAt } from './calendar.ts'
import type { ModelLine } from './invoices.ts'
import { priceOfCredits, type ModelCurrency } from './money.ts'
import { creditsOf, unusedUnits } from './prices.ts'
import type { ModelPurchase, UsageBook, UsageRecord } from './records.ts'

/* Usage bills (4.4, 4.5): each period is billed once, some time after its end. Late usage is on a later bill. */

/** Milliseconds after the end of a period during which its bill waits for late usage. */
const graceMs = hourMs

/** Maximum lateness of usage in milliseconds. */
const lateMs = 30 * dayMs

export function emptyUsageBook(anchor: number): UsageBook {
  return { billed: new Map(), billedUntil: anchor, closesAt: null }
}

export type UsageBill = {
  /** End of the billed period. Undefined for usage that is later than the last period. */
  readonly end: number | undefined
  /** Empty if the period gets no invoice. */
  readonly lines: readonly ModelLine[]
}

/** Bills the next due period. Returns undefined if none is due. */
export function billNextUsage(
  purchase: ModelPurchase,
  records: readonly UsageRecord[],
  currency: ModelCurrency,
  at: number,
): UsageBill | undefined {
  const { plan, usageBook: book } = purchase
  const start = book.billedUntil
  if (plan.usage === undefined) return undefined
  const ofProduct = records.filter(({ productRef }) => productRef === purchase.productRef)
  if (start === null) {
    if (book.closesAt === null || book.closesAt > at) return undefined
    book.closesAt = null
    return { end: undefined, lines: lateLines(purchase, ofProduct, currency) }
  }
  const periodEnd = endOfPeriod(purchase, start)
  const endedAt =
    purchase.endedAt ?? (purchase.end !== null && purchase.end <= at ? purchase.end : null)
  const isLast = endedAt !== null && endedAt <= periodEnd
  const end = isLast ? endedAt : periodEnd
  if (end + graceMs > at) return undefined
  book.billedUntil = isLast ? null : end
  if (isLast && endedAt > purchase.anchor) book.closesAt = endedAt + lateMs + graceMs
  if (end <= start) return { end, lines: [] }
  const late = lateLines(purchase, ofProduct, currency)
  const units = sum(ofProduct, start, end)
  if (purchase.status === 'suspended' && units === 0 && late.length === 0) return { end, lines: [] }
  const left = unitsCarriedInto(purchase, start)
  const before = usedBefore(purchase, ofProduct, start)
  book.billed.set(start, { end, units, before, left })
  const amount = priceOfCredits(creditsOf(plan.usage, units, left, before), currency)
  return { end, lines: [...late, { kind: 'usage', start, end, amount }] }
}

/** Returns the units carried into the period. A period that ended without access carries none. */
function unitsCarriedInto({ plan, usageBook, suspensions }: ModelPurchase, start: number): number {
  const before = [...usageBook.billed.values()].find(({ end }) => end === start)
  const endedWithoutAccess = suspensions.some(({ from, until }) => from < start && start <= until)
  if (before === undefined || endedWithoutAccess) return 0
  return unusedUnits(plan.usage!, before.before + before.units)
}

/** Returns the units that other purchases used from the allowance which the first period shares. */
function usedBefore(
  { startedAt, allowance }: ModelPurchase,
  records: readonly UsageRecord[],
  start: number,
): number {
  return allowance === undefined || start !== startedAt ? 0 : sum(records, allowance.since, start)
}

/** Returns the lines of usage that arrived after its period was billed. */
function lateLines(
  purchase: ModelPurchase,
  records: readonly UsageRecord[],
  currency: ModelCurrency,
): ModelLine[] {
  const { plan, usageBook } = purchase
  const prices = plan.usage!
  return [...usageBook.billed].flatMap(([start, period]) => {
    const { end, left } = period
    const billed = creditsOf(prices, period.units, left, period.before)
    const units = sum(records, start, end)
    const before = usedBefore(purchase, records, start)
    if (units === period.units && before === period.before) return []
    Object.assign(period, { units, before })
    const credits = creditsOf(prices, units, left, before) - billed
    return { kind: 'late_usage', start, end, amount: priceOfCredits(credits, currency) }
  })
}

/** Returns whether the price of the due period waits for the usage of the previous one. */
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
