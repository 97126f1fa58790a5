import { readLogRange } from '@tollgate/domain/entitlements/read-log-range'
import { UsageBehindError } from '@tollgate/domain/entitlements/usage-behind-error'
import type { LogRecord } from '@tollgate/platform/event-log/event-log'
import { withoutCounts, type MeterEvent } from '@tollgate/schemas/meter-event'
import { encodeMeterEvent } from '@tollgate/schemas/meter-event-codec'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readRecordedUsage } from './read-recorded-usage.ts'

/*
 * These tests use a log that has lost records in the middle. The embedded log never does so, but in Kafka the operator decides on
 * deletion.
 */

const range = { topic: 'usage', partition: 0 }

function recordAt(offset: number): LogRecord {
  const event: MeterEvent = {
    id: `usage_${offset}`,
    providerId: 'prv_A',
    customerRef: 'user-1',
    meterName: 'requests',
    value: 1_000_000,
    timestamp: 1_000,
    receivedAt: 1_000,
    productRef: '',
    purchaseRef: '',
    outcome: 'success',
    source: 'sdk',
    idempotencyKey: null,
    debit: null,
    ...withoutCounts,
    properties: '{}',
    reservationId: null,
    traceParent: null,
  }
  const buffer = Buffer.alloc(1_024)
  return {
    offset,
    receivedAtMs: 1_000,
    value: buffer.subarray(0, encodeMeterEvent(event, buffer, 0)),
  }
}

function logOf(kept: ReadonlySet<number>, oldest: number, recordsPerRead: number) {
  const records = [...kept].toSorted((one, other) => one - other).map(recordAt)
  return {
    read: (_topic: string, _partition: number, fromOffset: number) =>
      Promise.resolve(
        records.filter(({ offset }) => offset >= fromOffset).slice(0, recordsPerRead),
      ),
    oldest: () => oldest,
  }
}

const usageStore = { query: () => Promise.reject(new Error('there are no keys to ask for')) }

const logs = fc.record({
  kept: fc.uniqueArray(fc.nat(40), { maxLength: 41 }).map((offsets) => new Set(offsets)),
  recordsPerRead: fc.integer({ min: 1, max: 50 }),
  fromOffset: fc.nat(20),
  length: fc.integer({ min: 1, max: 30 }),
})

test('returns the records around gaps of the log, and reports each gap', async () => {
  await fc.assert(
    fc.asyncProperty(logs, async ({ kept, recordsPerRead, fromOffset, length }) => {
      const toOffset = fromOffset + length
      const eventLog = logOf(kept, Math.min(...kept, 41), recordsPerRead)
      // A log that ends before the range does is a different log.
      const head = kept.size === 0 ? 41 : Math.max(...kept) + 1
      fc.pre(head >= toOffset)
      const wanted = { ...range, fromOffset, toOffset }
      const read = await readRecordedUsage(
        { eventLog, usageStore },
        'sandbox',
        wanted,
        new Set(['prv_A']),
      )
      const told = new Set(read.records.map(({ offset }) => offset))
      const missing = new Set<number>()
      for (const hole of read.gaps) {
        for (let at = hole.fromOffset; at < hole.toOffset; at += 1) missing.add(at)
      }
      expect(read.toOffset).toBe(toOffset)
      for (let at = fromOffset; at < toOffset; at += 1) {
        expect([told.has(at), missing.has(at)]).toEqual([kept.has(at), !kept.has(at)])
      }
      expect(told.size + missing.size).toBe(length)
    }),
    { interruptAfterTimeLimit: 20_000 },
  )
})

test('refuses a log that ends before the stored range', async () => {
  const eventLog = logOf(new Set([0, 1, 2]), 0, 2)
  const reading = readRecordedUsage(
    { eventLog, usageStore },
    'sandbox',
    { ...range, fromOffset: 1, toOffset: 9 },
    new Set(['prv_A']),
  )
  await expect(reading).rejects.toThrow('ends before 3')
})

test('lets no limit check use a range with a gap', async () => {
  const owner = { providerId: 'prv_A', customerRefs: new Set(['user-1']) }
  await fc.assert(
    fc.asyncProperty(logs, async ({ kept, recordsPerRead, fromOffset, length }) => {
      const toOffset = fromOffset + length
      const offsets = Array.from({ length }, (_, index) => fromOffset + index)
      const log = logOf(kept, 0, recordsPerRead)
      const reading = readLogRange(log, { ...range, fromOffset, toOffset }, owner)
      if (offsets.every((offset) => kept.has(offset))) {
        expect((await reading).map(({ offset }) => offset)).toEqual(offsets)
      } else await expect(reading).rejects.toThrow(UsageBehindError)
    }),
    { interruptAfterTimeLimit: 20_000 },
  )
})
