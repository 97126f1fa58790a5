import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { outcomes, withoutCounts } from '@tollgate/schemas/meter-event'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { foldTail } from './fold-tail.ts'
import type { TailRecord, TailScope } from './fold-tail.ts'

const scope: TailScope = {
  providerId: 'prv_A',
  customerRefs: new Set(['cus_a', 'user-1']),
  productRef: 'prd_A',
  meterName: 'requests',
  windows: [
    { id: 'one', fromSecond: 10, toSecond: 20 },
    { id: 'two', fromSecond: 20, toSecond: 30 },
  ],
}

const events: fc.Arbitrary<MeterEvent> = fc
  .record({
    key: fc.option(fc.constantFrom('a', 'b', 'c')),
    customerRef: fc.constantFrom('cus_a', 'user-1', 'other'),
    meterName: fc.constantFrom('requests', 'requests', 'tokens', ''),
    further: fc.option(fc.nat(5_000_000)),
    value: fc.nat(5_000_000),
    timestamp: fc.integer({ min: 5_000, max: 35_000 }),
    productRef: fc.constantFrom('prd_A', null, 'prd_B'),
    outcome: fc.constantFrom(...outcomes, 'success' as const),
  })
  .map(({ key, further, ...more }) => ({
    ...more,
    id: `usage_${more.customerRef}_${key ?? 'unkeyed'}`,
    providerId: 'prv_A',
    receivedAt: 0,
    purchaseRef: null,
    source: 'usages',
    idempotencyKey: key,
    properties: '{}',
    reservationId: null,
    traceParent: null,
    debit: null,
    ...withoutCounts,
    counts:
      further === null
        ? []
        : [
            { meterName: 'images', value: 7, text: null },
            ...(more.meterName === 'requests'
              ? []
              : [{ meterName: 'requests', value: further, text: null }]),
          ],
  }))

/** Counts all records one by one, as a projection that starts at offset 0 does. */
function countAll(all: readonly TailRecord[]): {
  amounts: Map<string, bigint>
  marks: Map<string, number>
} {
  const amounts = new Map<string, bigint>()
  const marks = new Map<string, number>()
  for (const { offset, event } of all) {
    if (event.idempotencyKey !== null && marks.has(event.id)) continue
    if (event.idempotencyKey !== null) marks.set(event.id, offset)
    const second = Math.floor(event.timestamp / 1000)
    const id = second >= 10 && second < 20 ? 'one' : second >= 20 && second < 30 ? 'two' : undefined
    const { meterName, value } = event
    const own = [{ meterName, value }, ...event.counts].find(
      (each) => each.meterName === 'requests',
    )
    const counts = event.outcome === 'success' && event.productRef !== 'prd_B'
    if (!counts || own === undefined || id === undefined || event.customerRef === 'other') continue
    amounts.set(id, (amounts.get(id) ?? 0n) + BigInt(own.value))
  }
  return { amounts, marks }
}

describe('foldTail', () => {
  it('completes the counters from any applied offset, with the marks of that moment or any later one', () => {
    fc.assert(
      fc.property(fc.array(events), fc.nat(), fc.nat(), (list, cut, later) => {
        const all = list.map((event, offset) => ({ offset, event }))
        const applied = list.length === 0 ? 0 : cut % (list.length + 1)
        const markedUpTo = applied + (later % (list.length - applied + 1))
        const { amounts } = countAll(all.slice(0, applied))
        const { marks } = countAll(all.slice(0, markedUpTo))
        for (const [id, amount] of foldTail(all.slice(applied), scope, marks)) {
          amounts.set(id, (amounts.get(id) ?? 0n) + amount)
        }
        expect(amounts).toEqual(countAll(all).amounts)
      }),
      { numRuns: 1000 },
    )
  })
})
