import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  EventLogUnavailableError,
  GroupFencedError,
  type EventLog,
  type LogRecord,
} from '../event-log/event-log.ts'

/**
 * A new, empty log with the topics of `contractTopics`. It deletes in small units: the first four records appended one after the
 * other fill at least one unit.
 */
export type EventLogUnderTest = {
  readonly log: EventLog
  /** Opens the same log separately for reading, as another process does. */
  readonly openReader: () => Promise<EventLog>
  /** Closes `log` and opens it again. */
  readonly reopen: () => Promise<EventLog>
  readonly destroy: () => Promise<void>
}

export const contractTopics = { orders: 4, refunds: 2 } as const

/** Tests that every EventLog must pass. */
export function describeEventLog(name: string, create: () => Promise<EventLogUnderTest>): void {
  describe(`event log: ${name}`, () => {
    let under: EventLogUnderTest
    beforeEach(async () => {
      under = await create()
    })
    afterEach(async () => {
      await under.destroy()
    })
    describeAppending(() => under)
    describeReading(() => under)
    describeGroups(() => under)
    describeTrimming(() => under)
  })
}

const everything = { recordsMax: 1_000_000, bytesMax: 1_000_000_000 }

function bytes(text: string): Uint8Array {
  return Buffer.from(text)
}

function texts(records: readonly LogRecord[]): string[] {
  return records.map((record) => Buffer.from(record.value).toString())
}

function describeAppending(under: () => EventLogUnderTest): void {
  it('numbers the records of each partition from 0 without gaps', async () => {
    const { log } = under()
    await Promise.all(
      Array.from({ length: 100 }, (_, n) => log.append('orders', n % 2, bytes(`${n}`), 1)),
    )
    for (const partition of [0, 1]) {
      const own = await log.read('orders', partition, 0, everything)
      expect(own.map((record) => record.offset)).toEqual(Array.from({ length: 50 }, (_, n) => n))
      expect(texts(own).map(Number)).toEqual(own.map((_, n) => 2 * n + partition))
    }
    expect(await log.head('orders', 0)).toBe(50)
    expect(await log.head('orders', 2)).toBe(0)
    expect(log.lastKnownHead('orders', 0)).toBe(50)
    expect(await log.head('refunds', 0)).toBe(0)
  })

  it('copies the bytes before append returns', async () => {
    const { log } = under()
    const reused = Buffer.from('first')
    const first = log.append('orders', 0, reused, 1)
    reused.write('later')
    const second = log.append('orders', 0, reused, 1)
    await Promise.all([first, second])
    expect(texts(await log.read('orders', 0, 0, everything))).toEqual(['first', 'later'])
  })

  it('stores the receive time and any bytes, including none', async () => {
    const { log } = under()
    const all = Uint8Array.from({ length: 256 }, (_, n) => n)
    await log.append('orders', 3, new Uint8Array(0), 0)
    await log.append('orders', 3, all, 1_800_000_000_123)
    const records = await log.read('orders', 3, 0, everything)
    expect(records.map((record) => record.receivedAtMs)).toEqual([0, 1_800_000_000_123])
    expect(records[0]!.value.length).toBe(0)
    expect(Buffer.from(records[1]!.value).equals(all)).toBe(true)
  })

  it('appends all records in input order, over several partitions', async () => {
    const { log } = under()
    await log.append('orders', 1, bytes('before'), 1)
    const records = [1, 0, 1, 3].map((partition, n) => ({ partition, value: bytes(`r${n}`) }))
    expect(await log.appendAll('orders', records, 1)).toEqual([1, 0, 2, 0])
    expect(texts(await log.read('orders', 1, 0, everything))).toEqual(['before', 'r0', 'r2'])
    expect(await log.appendAll('orders', [], 1)).toEqual([])
  })

  it('stores records that are far larger than a batch', async () => {
    const { log } = under()
    const large = Buffer.alloc(700_000, 'large')
    await Promise.all(
      [0, 1, 2].map((n) => log.append('orders', 0, n === 1 ? large : bytes('s'), 1)),
    )
    expect(await log.head('orders', 0)).toBe(3)
    const records = await log.read('orders', 0, 1, { recordsMax: 10, bytesMax: 10 })
    expect(records.length).toBe(1)
    expect(large.equals(records[0]!.value)).toBe(true)
  })

  it('has all acknowledged records when it is opened again', async () => {
    const { log, reopen } = under()
    await Promise.all([0, 1, 2].map((n) => log.append('refunds', 1, bytes(`${n}`), 1)))
    const again = await reopen()
    expect(await again.head('refunds', 1)).toBe(3)
    expect(texts(await again.read('refunds', 1, 0, everything))).toEqual(['0', '1', '2'])
    await again.append('refunds', 1, bytes('3'), 1)
    expect(await again.head('refunds', 1)).toBe(4)
  })

  it('is writable until it is closed', async () => {
    const { log, reopen } = under()
    await log.checkWritable()
    await reopen()
    await expect(log.append('orders', 0, bytes('late'), 1)).rejects.toThrow(
      EventLogUnavailableError,
    )
    await expect(log.checkWritable()).rejects.toThrow(EventLogUnavailableError)
  })
}

function describeReading(under: () => EventLogUnderTest): void {
  it('reads from any offset, within the limits but at least one record', async () => {
    const { log } = under()
    for (const round of [0, 1, 2]) {
      const records = Array.from({ length: 5 }, (_, n) => bytes(`${round * 5 + n}`.padStart(10)))
      await log.appendAll(
        'orders',
        records.map((value) => ({ partition: 0, value })),
        1,
      )
    }
    for (let from = 0; from < 15; from += 1) {
      const records = await log.read('orders', 0, from, { recordsMax: 4, bytesMax: 1000 })
      const expected = Array.from({ length: Math.min(4, 15 - from) }, (_, n) => from + n)
      expect(records.map((record) => record.offset)).toEqual(expected)
      expect(texts(records).map(Number)).toEqual(expected)
    }
    expect((await log.read('orders', 0, 3, { recordsMax: 9, bytesMax: 30 })).length).toBe(3)
    expect((await log.read('orders', 0, 3, { recordsMax: 9, bytesMax: 1 })).length).toBe(1)
    expect(await log.read('orders', 0, 15, everything)).toEqual([])
    expect(await log.read('orders', 2, 0, everything)).toEqual([])
  })

  it('shows acknowledged records to readers of other processes at once', async () => {
    const { log, openReader } = under()
    const reader = await openReader()
    for (let n = 0; n < 20; n += 1) {
      await log.append('orders', 0, bytes(`${n}`), 1)
      expect(await reader.head('orders', 0)).toBe(n + 1)
      expect(texts(await reader.read('orders', 0, n, everything))).toEqual([`${n}`])
    }
    expect(reader.partitionCount('orders')).toBe(4)
    await reader.close()
  })

  it('wakes readers that wait for an append, in this and in other processes', async () => {
    const { log, openReader } = under()
    const reader = await openReader()
    for (const each of [log, reader]) {
      const before = await each.head('orders', 1)
      let appendedAt = Infinity
      const appended = new Promise((resolve) => setTimeout(resolve, 30)).then(async () => {
        await log.append('orders', 1, bytes('x'), 1)
        appendedAt = performance.now()
      })
      while ((await each.head('orders', 1)) === before) await each.waitForAppend('orders', 60_000)
      await appended
      expect(performance.now() - appendedAt).toBeLessThan(10_000)
    }
    const begun = performance.now()
    await log.waitForAppend('refunds', 20)
    expect(performance.now() - begun).toBeLessThan(10_000)
    await reader.close()
  })
}

/** Joins a group and records its assigned partitions. */
async function joinGroup(log: EventLog, group: string) {
  const held = new Set<string>()
  const membership = await log.join(group, ['orders'], {
    assigned: (topic, partition) => void held.add(`${topic}/${partition}`),
    revoked: async (topic, partition) => void held.delete(`${topic}/${partition}`),
  })
  return { membership, held }
}

const allOrders = ['orders/0', 'orders/1', 'orders/2', 'orders/3']
const patience = { timeout: 20_000 }

function describeGroups(under: () => EventLogUnderTest): void {
  const start = { offset: 0, note: '' }

  it('assigns every partition to a lone member, and revokes them when it leaves', async () => {
    const { log } = under()
    const { membership, held } = await joinGroup(log, 'sink')
    await expect.poll(() => [...held].sort(), patience).toEqual(allOrders)
    expect(membership.isJoined).toBe(true)
    await membership.leave()
    expect(held.size).toBe(0)
    const again = await joinGroup(log, 'sink')
    await expect.poll(() => [...again.held].sort(), patience).toEqual(allOrders)
    await again.membership.leave()
  })

  it('assigns every partition when a member joins and when one leaves', async () => {
    const { log, openReader } = under()
    const other = await openReader()
    const first = await joinGroup(log, 'sink')
    const second = await joinGroup(other, 'sink')
    await expect.poll(() => second.held.size, patience).toBeGreaterThan(0)
    const isCovered = () => allOrders.every((each) => first.held.has(each) || second.held.has(each))
    await expect.poll(isCovered, patience).toBe(true)
    await first.membership.leave()
    await expect.poll(() => [...second.held].sort(), patience).toEqual(allOrders)
    await second.membership.leave()
    await other.close()
  })

  it('moves the position of a group with its note, and shows it to the other member', async () => {
    const { log, reopen } = under()
    expect(await log.position('sink', 'orders', 0)).toEqual(start)
    const { held } = await joinGroup(log, 'sink')
    await expect.poll(() => held.size, patience).toBe(4)
    await log.commit('sink', 'orders', 0, start, { offset: 0, note: 'open [0, 10)' })
    await log.commit(
      'sink',
      'orders',
      0,
      { offset: 0, note: 'open [0, 10)' },
      { offset: 10, note: '' },
    )
    for (const stale of [
      start,
      { offset: 0, note: 'open [0, 10)' },
      { offset: 10, note: 'other' },
    ]) {
      const attempt = log.commit('sink', 'orders', 0, stale, { offset: 99, note: '' })
      await expect(attempt).rejects.toThrow(GroupFencedError)
    }
    const again = await reopen()
    expect(await again.position('sink', 'orders', 0)).toEqual({ offset: 10, note: '' })
    expect(await again.position('sink', 'orders', 1)).toEqual(start)
    expect(await again.position('other', 'orders', 0)).toEqual(start)
  })

  it('lets exactly one of two concurrent commits succeed', async () => {
    const { log, openReader } = under()
    const other = await openReader()
    const [first, second] = [await joinGroup(log, 'sink'), await joinGroup(other, 'sink')]
    const place = 'orders/0'
    const isShared = () => second.held.size > 0 && (first.held.has(place) || second.held.has(place))
    await expect.poll(isShared, patience).toBe(true)
    const outcomes = await Promise.allSettled(
      [log, other, log, other].map((member, n) =>
        member.commit('sink', 'orders', 0, start, { offset: 1, note: `${n}` }),
      ),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBe(1)
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(GroupFencedError)
    }
    await other.close()
  })
}

function describeTrimming(under: () => EventLogUnderTest): void {
  it('deletes only old records that every group has passed, and keeps the head', async () => {
    const { log, reopen } = under()
    for (let n = 0; n < 10; n += 1) await log.append('orders', 0, bytes(`${n}`), 1000 + n)
    await log.append('orders', 1, bytes('other'), 1)
    const { held } = await joinGroup(log, 'sink')
    await expect.poll(() => held.size, patience).toBe(4)
    await log.commit('sink', 'orders', 0, { offset: 0, note: '' }, { offset: 6, note: '' })
    await log.trim('orders', 0, 1008, ['sink', 'never-started'])
    expect(await log.oldest('orders', 0)).toBe(0)
    await log.trim('orders', 0, 1004, ['sink'])
    expect(await log.oldest('orders', 0)).toBeGreaterThan(0)
    expect(await log.oldest('orders', 0)).toBeLessThanOrEqual(4)
    await log.trim('orders', 0, 9999, ['sink'])
    expect(await log.oldest('orders', 0)).toBeLessThanOrEqual(6)
    const kept = await log.read('orders', 0, 6, everything)
    expect(kept.map((record) => record.offset)).toEqual([6, 7, 8, 9])
    for (const never of [0, -1, -Infinity]) await log.trim('orders', 0, never, [])
    expect((await log.read('orders', 0, 6, everything)).length).toBe(4)
    await log.trim('orders', 0, Infinity, [])
    const again = await reopen()
    expect(await again.head('orders', 0)).toBe(10)
    await again.append('orders', 0, bytes('10'), 1)
    expect(await again.head('orders', 0)).toBe(11)
    expect(await again.oldest('orders', 1)).toBe(0)
  })
}
