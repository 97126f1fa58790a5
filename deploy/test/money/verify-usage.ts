import { expect } from 'vitest'
import type { StoryContext } from './story-context.ts'
import type { UsedRecord } from './usage-log.ts'
import type { Books } from './books.ts'
import { readFreeDrafts, readInvoices, usageLinesOf } from './verify-invoices.ts'
import type { InvoiceWithLines } from '@tollgate/domain/invoices/invoice'

type Held = {
  readonly reference: string
  readonly start_date: Date
  readonly ended_at: Date | null
  readonly previous_end: Date | null
}

const toleranceMs = 300_000
const secondMs = 1_000

/**
 * Checks that the invoices, and the drafts of periods that cost nothing, contain exactly the recorded usage, in consecutive
 * periods.
 */
export async function verifyUsage(books: Books, { world, customer }: StoryContext): Promise<void> {
  const { sql, providerId } = books
  const used = world.stores.usageLog.records.filter(
    (record) => record.customerRef === customer.reference,
  )
  const purchases = await sql<Held[]>`
    select reference, start_date, ended_at, (
        select max(before.ended_at) from purchases as before
        where before.provider_id = purchases.provider_id and before.plan_ref is not null
          and before.reference <> purchases.reference
          and before.start_date <= purchases.start_date and before.ended_at <= purchases.created_at
      ) as previous_end
    from purchases where provider_id = ${providerId} and plan_ref is not null`
  const bills = inOrderOfBilling([...(await readInvoices(books)), ...(await readFreeDrafts(books))])
  for (const purchase of purchases) {
    /** Billed units by period. */
    const billed = new Map<number, bigint>()
    let endedAt = purchase.start_date.getTime()
    for (const invoice of bills.filter(({ purchaseRef }) => purchaseRef === purchase.reference)) {
      for (const { inputs, period } of usageLinesOf(invoice)) {
        const { start, end } = period!
        const before = billed.get(start.getTime())
        const known = used.filter(({ partition, offset }) => {
          return offset < Number(inputs.reading.nextOffsets[String(partition)])
        })
        if (inputs.kind === 'usage') {
          // While a purchase is suspended, periods without recorded usage are not billed.
          const inTime = known.filter(({ toldAt }) => toldAt <= start)
          const between = sumOf(inTime, purchase, new Date(endedAt), start)
          expect(between, `${purchase.reference} is billed without a gap`).toBe(0n)
          expect(start.getTime()).toBeGreaterThanOrEqual(endedAt)
          endedAt = end.getTime()
          expect(before).toBeUndefined()
        } else {
          expect(microsOf(inputs.usedUnits)).toBe(before)
        }
        const sum = sumOf(known, purchase, start, end)
        const units = inputs.kind === 'usage' ? inputs.usedUnits : inputs.lateUnits
        expect((before ?? 0n) + microsOf(units), `usage of ${purchase.reference}`).toBe(sum)
        billed.set(start.getTime(), sum)
      }
    }
  }
}

/**
 * Sorts the bills of each purchase by their time. Bills of the same time are sorted by their period, because drafts have no
 * number. A bill with only late usage comes last.
 */
function inOrderOfBilling(bills: readonly InvoiceWithLines[]): InvoiceWithLines[] {
  const keyed = bills.map((bill) => {
    const own = usageLinesOf(bill).find(({ inputs }) => inputs.kind === 'usage')
    return { bill, at: bill.createdAt.getTime(), from: own?.period?.start.getTime() ?? Infinity }
  })
  const sorted = keyed.sort((one, other) =>
    one.at === other.at ? compare(one.from, other.from) : compare(one.at, other.at),
  )
  return sorted.map(({ bill }) => bill)
}

function compare(one: number, other: number): number {
  return one === other ? 0 : one < other ? -1 : 1
}

function sumOf(
  used: readonly UsedRecord[],
  { start_date: startDate, previous_end: previousEnd }: Held,
  start: Date,
  end: Date,
): bigint {
  if (start.getTime() === end.getTime()) return 0n
  const isFirst = start.getTime() === startDate.getTime()
  const early = Math.max(start.getTime() - toleranceMs, secondAfter(previousEnd?.getTime() ?? 0))
  const from = isFirst ? early : start.getTime()
  const to = secondAfter(end.getTime())
  return used
    .filter(({ at }) => at.getTime() >= from && at.getTime() < to)
    .reduce((sum, { micros }) => sum + micros, 0n)
}

function secondAfter(ms: number): number {
  return Math.ceil(ms / secondMs) * secondMs
}

function microsOf(units: string): bigint {
  const [whole, fraction = ''] = units.split('.')
  return BigInt(whole + fraction.padEnd(6, '0'))
}
