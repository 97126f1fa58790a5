import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type {
  CounterBatch,
  EntryAddress,
  HotState,
  Increment,
  Mark,
} from '../hot-state/hot-state.ts'
import { describeBuckets } from './buckets-contract.ts'
import { describeDocuments } from './documents-contract.ts'
import { describeHotStateAgainstModel } from './hot-state-against-model.ts'
import type { HotStateUnderTest } from './hot-state-under-test.ts'
import { describeMarks } from './marks-contract.ts'
import { describePublishedWhileCounted } from './published-while-counted.ts'
import { describeRestores } from './restores-contract.ts'
import { nothingExpired } from './nothing-expired.ts'
import { describePutEntries } from './put-entries-contract.ts'
import { describeReservations } from './reservations-contract.ts'

/** Tests that every HotState must pass. */
export function describeHotState(name: string, create: () => Promise<HotStateUnderTest>): void {
  describe(`hot state: ${name}`, () => {
    let under: HotStateUnderTest
    beforeEach(async () => {
      under = await create()
    })
    afterEach(async () => {
      await under.destroy()
    })
    describeDocuments(() => under)
    describeIncarnation(() => under)
    describeEntries(() => under)
    describePutEntries(() => under.hot)
    describeBuckets(() => under)
    describeApplying(() => under)
    describeMarks(() => under.hot)
    describeSweeping(() => under)
    describePublishedWhileCounted(() => under.hot)
    describeRestores(() => under)
    describeReservations(() => under)
    describeHotStateAgainstModel(() => under.hot)
  })
}

const partition = 3
const at: EntryAddress = { space: 'live', partition, subject: '4:prov_user', scope: 'prd_a' }
const unscoped = { ...at, scope: '' }
const day = 86_400

function entry(version: number, windows: readonly [string, number, number][]) {
  return {
    version,
    document: `{"version":${version}}`,
    windows: windows.map(([id, fromSecond, toSecond]) => ({ id, fromSecond, toSecond })),
  }
}

function use(second: number, amount: bigint, scope = 'prd_a', subject = at.subject): Increment {
  return { subject, scope, series: 'calls', second, amount }
}

/** Applies one batch at the current fence. */
async function count(hot: HotState, increments: Increment[], marks: Mark[] = []): Promise<void> {
  const expectedOffset = await hot.appliedOffset('live', partition)
  const nextOffset = expectedOffset + 10
  const batch = { space: 'live', partition, expectedOffset, nextOffset, marks, increments }
  expect(await hot.apply(batch)).toBe('applied')
}

async function amounts(hot: HotState, address: EntryAddress = at): Promise<Record<string, bigint>> {
  return Object.fromEntries((await hot.readEntry(address, 'calls')).amounts)
}

function describeIncarnation(under: () => HotStateUnderTest): void {
  it('reports the same incarnation to every process while nothing is lost', async () => {
    const { hot, openReader } = under()
    const incarnation = await hot.incarnation()
    expect(incarnation).not.toBe('')
    await hot.putDocument('a', 'b')
    await count(hot, [use(1, 1n)])
    const reader = await openReader()
    expect(await reader.incarnation()).toBe(incarnation)
    expect(await hot.incarnation()).toBe(incarnation)
    const lost = hot.lostBetween(await hot.lives(), await reader.lives())
    if (lost === 'everything') throw new Error('nothing was lost')
    expect(lost({ document: 'a' })).toBe(false)
    expect(lost({ space: 'sandbox', partition: 0 })).toBe(false)
    expect(hot.lostBetween('another', await hot.lives())).toBe('everything')
    await reader.close()
  })
}

function describeEntries(under: () => HotStateUnderTest): void {
  it('returns the entry, its amounts and the applied offset of the same moment', async () => {
    const { hot } = under()
    expect(await hot.readEntry(at, 'calls')).toEqual({
      document: undefined,
      amounts: new Map(),
      appliedOffset: 0,
    })
    await hot.putEntry(
      at,
      entry(1, [
        ['w1', 0, 100],
        ['w2', 100, 200],
      ]),
    )
    await count(hot, [use(0, 1n), use(99, 2n), use(100, 4n), use(200, 8n), use(50, 16n, 'prd_b')])
    expect(await hot.readEntry(at, 'calls')).toEqual({
      document: '{"version":1}',
      amounts: new Map([
        ['w1', 3n],
        ['w2', 4n],
      ]),
      appliedOffset: 10,
    })
    expect((await hot.readEntry(at, 'other')).amounts.size).toBe(0)
    expect(await amounts(hot, { ...at, space: 'sandbox' })).toEqual({})
    expect(await amounts(hot, { ...at, partition: 4 })).toEqual({})
  })

  it('folds slots once into a window that is published later', async () => {
    const { hot } = under()
    await count(hot, [use(10, 1n), use(10, 2n, ''), use(70 * day, 4n), use(500 * day, 8n)])
    await hot.putEntry(at, entry(1, [['w1', 0, 100 * day]]))
    expect(await amounts(hot)).toEqual({ w1: 7n })
    await hot.putEntry(
      at,
      entry(2, [
        ['w1', 0, 100 * day],
        ['w2', 100 * day, 1000 * day],
      ]),
    )
    expect(await amounts(hot)).toEqual({ w1: 7n, w2: 8n })
    await hot.putEntry({ ...at, scope: 'prd_b' }, entry(1, [['w1', 0, 100 * day]]))
    expect(await amounts(hot, { ...at, scope: 'prd_b' })).toEqual({ w1: 2n })
    await count(hot, [use(20, 100n, '')])
    expect(await amounts(hot)).toEqual({ w1: 107n, w2: 8n })
    expect(await amounts(hot, { ...at, scope: 'prd_b' })).toEqual({ w1: 102n })
  })

  it('counts only unscoped usage in a window at scope ""', async () => {
    const { hot } = under()
    await count(hot, [use(10, 1n, ''), use(10, 2n)])
    await hot.putEntry(unscoped, entry(1, [['w', 0, 100]]))
    await count(hot, [use(11, 4n, ''), use(11, 8n)])
    expect(await amounts(hot, unscoped)).toEqual({ w: 5n })
    await hot.putEntry(
      unscoped,
      entry(2, [
        ['w', 0, 100],
        ['later', 100, 200],
      ]),
    )
    expect(await amounts(hot, unscoped)).toEqual({ w: 5n })
  })

  it('ignores an older version, and accepts the same version again', async () => {
    const { hot } = under()
    await hot.putEntry(at, entry(5, [['w', 0, 100]]))
    await hot.putEntry(at, entry(4, []))
    await hot.putEntry(at, entry(5, [['w', 0, 100]]))
    await count(hot, [use(1, 1n)])
    expect((await hot.readEntry(at, 'calls')).document).toBe('{"version":5}')
    expect(await hot.readEntryDocument(at)).toBe('{"version":5}')
    expect(await hot.readEntryDocument(unscoped)).toBeUndefined()
    expect(await amounts(hot)).toEqual({ w: 1n })
  })

  it('keeps the amounts of withdrawn windows, and counts nothing twice when they return', async () => {
    const { hot } = under()
    await hot.putEntry(at, entry(1, [['w', 0, 100]]))
    await count(hot, [use(1, 1n), use(1, 2n, '')])
    await hot.deleteEntry(at)
    await hot.deleteEntry(at)
    expect((await hot.readEntry(at, 'calls')).document).toBeUndefined()
    await count(hot, [use(2, 4n), use(2, 8n, '')])
    expect(await amounts(hot)).toEqual({ w: 3n })
    await hot.putEntry(at, entry(1, [['w', 0, 100]]))
    expect(await amounts(hot)).toEqual({ w: 15n })
  })

  it('adds the amounts of a window to the one that takes it in, once', async () => {
    const { hot } = under()
    const large = 2n ** 62n
    await hot.putEntry(at, entry(1, [['first', 0, 100]]))
    await count(hot, [use(1, 1n), use(1, 2n, '')])
    await hot.putEntry(at, entry(2, [['second', 10, 200]]))
    await count(hot, [use(20, large), use(21, large), use(22, 4n), use(23, 8n, '')])
    const windows = [{ id: 'first', fromSecond: 0, toSecond: 100, takesIn: ['second', 'unknown'] }]
    for (let times = 0; times < 2; times += 1) {
      await hot.putEntries(at.space, at.partition, [{ ...at, version: 3, document: '', windows }])
      expect(await amounts(hot)).toEqual({ first: 2n * large + 15n })
    }
    await count(hot, [use(24, 16n), use(25, 32n, '')])
    expect(await amounts(hot)).toEqual({ first: 2n * large + 63n })
  })

  it('counts slots in the time by which a window grows', async () => {
    const { hot } = under()
    await hot.putEntry(at, entry(1, [['w', 0, 100]]))
    await count(hot, [use(1, 1n), use(1, 2n, ''), use(150, 4n), use(150, 8n, '')])
    await hot.putEntry(at, entry(2, [['w', 0, 200]]))
    expect(await amounts(hot)).toEqual({ w: 15n })
  })

  it('stores amounts beyond 64 bits and below zero', async () => {
    const { hot } = under()
    await hot.putEntry(
      at,
      entry(1, [
        ['w', 0, 100],
        ['n', 100, 200],
      ]),
    )
    const large = 2n ** 62n
    for (let n = 0; n < 5; n += 1)
      await count(hot, [use(1, large), use(1, large), use(101, -large)])
    expect(await amounts(hot)).toEqual({ w: 10n * large, n: -5n * large })
  })

  it('distinguishes long subjects, scopes, series and window ids', async () => {
    const { hot } = under()
    const long = 'é'.repeat(2000)
    for (const end of ['a', 'b']) {
      const address = { ...at, subject: long + end, scope: long + end }
      await hot.putEntry(address, entry(1, [[long + end, 0, 100]]))
      await count(hot, [use(1, end === 'a' ? 1n : 2n, long + end, long + end)])
    }
    expect(await amounts(hot, { ...at, subject: `${long}a`, scope: `${long}a` })).toEqual({
      [`${long}a`]: 1n,
    })
    expect(await amounts(hot, { ...at, subject: `${long}b`, scope: `${long}b` })).toEqual({
      [`${long}b`]: 2n,
    })
    expect(await amounts(hot, { ...at, subject: `${long}a`, scope: `${long}b` })).toEqual({})
  })
}

function describeApplying(under: () => HotStateUnderTest): void {
  it('refuses a batch that does not follow the fence, and changes nothing', async () => {
    const { hot } = under()
    await hot.putEntry(at, entry(1, [['w', 0, 100]]))
    await count(hot, [use(1, 1n)])
    for (const expectedOffset of [0, 9, 11]) {
      const batch: CounterBatch = {
        space: 'live',
        partition,
        expectedOffset,
        nextOffset: 50,
        marks: [{ id: 'refused', offset: 1, receivedAtMs: 1 }],
        increments: [use(1, 100n)],
      }
      expect(await hot.apply(batch)).toBe('fenced')
    }
    expect(await amounts(hot)).toEqual({ w: 1n })
    expect(await hot.appliedOffset('live', partition)).toBe(10)
    expect(await hot.appliedOffset('live', 4)).toBe(0)
    expect(await hot.readMarks('live', partition, ['refused'])).toEqual([undefined])
  })

  it('wakes readers that wait for a batch, in this and in other processes', async () => {
    const { hot, openReader } = under()
    const reader = await openReader()
    for (const each of [hot, reader]) {
      const before = await each.appliedOffset('live', partition)
      let appliedAt = Infinity
      const applied = new Promise((resolve) => setTimeout(resolve, 30)).then(async () => {
        await count(hot, [])
        appliedAt = performance.now()
      })
      while ((await each.appliedOffset('live', partition)) === before)
        await each.waitForApply(60_000)
      await applied
      expect(performance.now() - appliedAt).toBeLessThan(10_000)
    }
    await reader.close()
  })
}

function describeSweeping(under: () => HotStateUnderTest): void {
  const nothing = nothingExpired

  async function sweepAll(hot: HotState, limits: Partial<typeof nothing>): Promise<number> {
    let total = 0
    for (let swept = -1; swept !== 0; total += swept) {
      swept = await hot.sweep('live', partition, { ...nothing, ...limits })
      expect(swept).toBeLessThanOrEqual(20)
    }
    return total
  }

  it('deletes old marks', async () => {
    const { hot } = under()
    const marks = Array.from({ length: 40 }, (_, n) => {
      return { id: `mark ${n}`, offset: n, receivedAtMs: n < 25 ? 1_000_000 : 9_000_000 }
    })
    await count(hot, [], marks)
    expect(await sweepAll(hot, { marksReceivedBeforeMs: 5_000_000 })).toBe(25)
    const left = await hot.readMarks(
      'live',
      partition,
      marks.map(({ id }) => id),
    )
    expect(left).toEqual(marks.map(({ offset }) => (offset < 25 ? undefined : offset)))
    await count(hot, [], [{ id: 'mark 1', offset: 99, receivedAtMs: 9_000_000 }])
    expect(await hot.readMarks('live', partition, ['mark 1'])).toEqual([99])
  })

  it('takes in a window whose unscoped usage is no longer in any slot', async () => {
    const { hot } = under()
    await hot.putEntry(at, entry(1, [['first', 0, 100]]))
    await count(hot, [use(1, 1n), use(1, 2n, '')])
    await hot.putEntry(at, entry(2, [['second', 10, 200]]))
    await count(hot, [use(20, 4n), use(20, 8n, '')])
    await sweepAll(hot, { slotsBeforeSecond: 100 })
    await count(hot, [use(30, 16n, '')])
    const windows = [{ id: 'first', fromSecond: 0, toSecond: 100, takesIn: ['second'] }]
    for (const version of [3, 4]) {
      await hot.putEntry(at, { version, document: `${version}`, windows })
      expect(await amounts(hot)).toEqual({ first: 31n })
    }
  })

  it('deletes windows that ended long ago, including withdrawn ones', async () => {
    const { hot } = under()
    await hot.putEntry(
      at,
      entry(1, [
        ['old', 0, 100],
        ['new', 100, 200],
      ]),
    )
    await hot.putEntry(unscoped, entry(1, [['gone', 0, 100]]))
    await count(hot, [use(1, 1n), use(101, 2n), use(2, 4n, '')])
    await hot.deleteEntry(unscoped)
    expect(await amounts(hot)).toEqual({ old: 5n, new: 2n })
    expect(await sweepAll(hot, { windowsEndedBeforeSecond: 150 })).toBeGreaterThan(0)
    expect(await amounts(hot)).toEqual({ new: 2n })
    expect(await amounts(hot, unscoped)).toEqual({})
    await count(hot, [use(1, 1n), use(101, 2n)])
    expect(await amounts(hot)).toEqual({ new: 4n })
  })

  it('keeps a window whose end was moved', async () => {
    const { hot } = under()
    await hot.putEntry(at, entry(1, [['w', 0, 100]]))
    await count(hot, [use(1, 1n)])
    await hot.putEntry(at, entry(2, [['w', 0, 1000]]))
    await sweepAll(hot, { windowsEndedBeforeSecond: 150 })
    expect(await amounts(hot)).toEqual({ w: 1n })
    await sweepAll(hot, { windowsEndedBeforeSecond: 1001 })
    expect(await amounts(hot)).toEqual({})
  })

  it('deletes old slots, and those of known subjects earlier', async () => {
    const { hot } = under()
    const seconds = Array.from({ length: 30 }, (_, n) => n * 3600)
    await hot.putEntry({ ...unscoped, subject: 'known' }, entry(1, []))
    for (const subject of ['known', 'unknown']) {
      await count(
        hot,
        seconds.map((second) => use(second, 1n, 'prd_a', subject)),
      )
    }
    const limits = { slotsBeforeSecond: 10 * 3600, knownSubjectSlotsBeforeSecond: 20 * 3600 }
    for (let call = 0; call < 20; call += 1)
      await hot.sweep('live', partition, { ...nothing, ...limits })
    for (const subject of ['known', 'unknown']) {
      const address = { ...at, subject }
      await hot.putEntry(address, entry(1, [['w', 0, 1000 * day]]))
      expect(await amounts(hot, address)).toEqual({ w: subject === 'known' ? 10n : 20n })
    }
  })

  it('keeps slots of a known subject after its last window, for the next published window', async () => {
    const { hot } = under()
    await hot.putEntry(at, entry(1, [['first', 0, 3600]]))
    await hot.putEntry(unscoped, entry(1, []))
    await count(hot, [use(1, 1n), use(7200, 2n), use(7200, 4n, ''), use(7200, 8n, 'prd_b')])
    await sweepAll(hot, { knownSubjectSlotsBeforeSecond: 36_000 })
    await hot.putEntry(
      at,
      entry(2, [
        ['first', 0, 3600],
        ['next', 3600, 36_000],
      ]),
    )
    expect(await amounts(hot)).toEqual({ first: 1n, next: 6n })
    const other = { ...at, scope: 'prd_b' }
    await hot.putEntry(other, entry(2, [['other', 3600, 36_000]]))
    expect(await amounts(hot, other)).toEqual({ other: 4n })
    await sweepAll(hot, { knownSubjectSlotsBeforeSecond: 36_000 })
    await hot.putEntry(unscoped, entry(3, [['late', 3600, 36_000]]))
    expect(await amounts(hot, unscoped)).toEqual({})
  })
}
