import { beforeEach, describe, expect, it } from 'vitest'
import type { BucketSpec } from '../hot-state/buckets.ts'
import type { HotState, Increment, Span } from '../hot-state/hot-state.ts'
import { beginRestore } from './begun-restore.ts'
import { describeBucketsAgainstModel } from './buckets-against-model.ts'
import type { HotStateUnderTest } from './hot-state-under-test.ts'
import { nothingExpired } from './nothing-expired.ts'

const [space, partition] = ['live', 6]
const at = { space, partition, subject: 'ada', scope: 'prd_a' }
const unscoped = { ...at, scope: '' }
const day = 86_400
/** Buckets are so long that the tests end within the one in which they began, or the next. */
const daily: BucketSpec = { id: 'daily', seconds: day, offsetSeconds: 0, kept: 4 }
const weekly: BucketSpec = { id: 'weekly', seconds: 7 * day, offsetSeconds: 4 * day, kept: 2 }

/** Tests of sums by bucket. */
export function describeBuckets(under: () => HotStateUnderTest): void {
  const hot = () => under().hot
  let now = 0
  beforeEach(() => {
    now = Math.floor(Date.now() / 1_000)
  })
  const dayOf = (second: number) => Math.floor(second / day)

  /** Publishes an entry with one window, which does not contain usage of yesterday and before. */
  async function publish(version: number, buckets: readonly BucketSpec[], address = at) {
    const windows = [{ id: 'w', fromSecond: now - 600, toSecond: now + 30 * day }]
    await hot().putEntry(address, { version, document: `${version}`, windows, buckets })
  }
  const bucketsOf = async (id = 'daily', address = at, series = 'calls') => {
    const { buckets } = await hot().readEntry(address, series)
    return Object.fromEntries(buckets?.get(id) ?? [])
  }

  describe('buckets', () => {
    it('sum usage with and without a scope, inside and outside of windows', async () => {
      await publish(1, [daily, weekly, { ...daily, id: 'same' }])
      await count(hot(), [
        use(now, 1n),
        use(now, 2n, ''),
        use(now - 2 * day, 4n),
        use(now - 2 * day, 8n, ''),
        use(now, 16n, 'prd_b'),
        { ...use(now, 32n), series: 'tokens' },
      ])
      const view = await hot().readEntry(at, 'calls')
      expect(view.amounts).toEqual(new Map([['w', 3n]]))
      expect([...view.buckets!.keys()].sort()).toEqual(['daily', 'same', 'weekly'])
      const expected = { [dayOf(now)]: 3n, [dayOf(now - 2 * day)]: 12n }
      expect(await bucketsOf()).toEqual(expected)
      expect(await bucketsOf('same')).toEqual(expected)
      const weeks = Object.values(await bucketsOf('weekly'))
      expect(weeks.reduce((sum, amount) => sum + amount, 0n)).toBe(15n)
      expect(await bucketsOf('daily', at, 'tokens')).toEqual({ [dayOf(now)]: 32n })
      expect((await hot().readEntry(at, 'other')).buckets).toBeUndefined()
      expect((await hot().readEntry({ ...at, scope: 'prd_b' }, 'calls')).buckets).toBeUndefined()
    })

    it('count usage without a scope for an entry at scope ""', async () => {
      await publish(1, [daily], unscoped)
      await count(hot(), [use(now, 1n), use(now, 2n, '')])
      expect(await bucketsOf('daily', unscoped)).toEqual({ [dayOf(now)]: 2n })
    })

    it('are read for several series of one moment', async () => {
      await publish(1, [daily])
      await count(hot(), [use(now, 1n), { ...use(now, 32n), series: 'tokens' }])
      const today = new Map([['daily', new Map([[dayOf(now), 1n]])]])
      expect(await hot().readEntrySeries(at, ['calls', 'tokens', 'none'])).toEqual({
        document: '1',
        appliedOffset: 10,
        series: new Map([
          ['calls', { amounts: new Map([['w', 1n]]), buckets: today }],
          [
            'tokens',
            {
              amounts: new Map([['w', 32n]]),
              buckets: new Map([['daily', new Map([[dayOf(now), 32n]])]]),
            },
          ],
          ['none', { amounts: new Map() }],
        ]),
      })
      const empty = { document: undefined, appliedOffset: 10, series: new Map() }
      expect(await hot().readEntrySeries({ ...at, subject: 'nobody' }, [])).toEqual(empty)
    })

    it('are dropped when they are too old, and never pushed out by the future', async () => {
      const seconds: BucketSpec = { id: 'daily', seconds: 1, offsetSeconds: 0, kept: 600 }
      await publish(1, [seconds])
      await count(hot(), [use(now - 700, 1n), use(now, 2n), use(now + day, 4n)])
      for (let n = 0; n < 3; n += 1) await count(hot(), [use(now + day - n, 8n)])
      const buckets = await bucketsOf()
      expect(buckets[now - 700]).toBeUndefined()
      expect(buckets[now]).toBe(2n)
      const future = Object.entries(buckets).filter(([bucket]) => Number(bucket) > now)
      expect(future.reduce((sum, [, amount]) => sum + amount, 0n)).toBe(28n)
      for (const [bucket] of future) expect(Number(bucket)).toBeLessThan(now + 600)
    })

    it('start with the slots when their spec is published later, once', async () => {
      await publish(1, [])
      const minutes = [0, 100, 3_000]
      await count(hot(), [
        use(now, 1n),
        use(now, 2n, ''),
        ...minutes.map((minute) => use(now - day - minute * 60, 10n)),
        ...minutes.map((minute) => use(now - day - minute * 60, 100n, '')),
      ])
      const sum = async () =>
        Object.values(await bucketsOf()).reduce((total, amount) => total + amount, 0n)
      const kept: BucketSpec = { ...daily, kept: 30 }
      await publish(2, [kept])
      expect(await sum()).toBe(332n)
      await publish(3, [kept])
      const windows = [{ id: 'early', fromSecond: 0, toSecond: now - 600 }]
      await hot().putEntry(at, { version: 4, document: '4', windows, buckets: [kept] })
      expect((await hot().readEntry(at, 'calls')).amounts.get('early')).toBe(330n)
      expect(await sum()).toBe(332n)
      await publish(5, [kept, weekly])
      expect(await sum()).toBe(332n)
    })

    it('lack nothing after their spec or their entry was withdrawn and returned', async () => {
      await publish(1, [daily])
      await count(hot(), [use(now, 1n)])
      await publish(2, [])
      expect((await hot().readEntry(at, 'calls')).buckets).toBeUndefined()
      await count(hot(), [use(now, 2n), use(now, 4n, '')])
      await publish(3, [daily])
      expect(await bucketsOf()).toEqual({ [dayOf(now)]: 7n })
      await hot().deleteEntry(at)
      expect((await hot().readEntry(at, 'calls')).buckets).toBeUndefined()
      await count(hot(), [use(now, 8n)])
      await publish(4, [daily])
      expect(await bucketsOf()).toEqual({ [dayOf(now)]: 15n })
    })

    it('begin again from the slots when their spec is changed', async () => {
      await publish(1, [daily])
      await count(hot(), [use(now, 1n), use(now - day, 2n), use(now, 4n, '')])
      await publish(2, [{ ...weekly, id: 'daily', kept: 3 }])
      const weeks = Object.values(await bucketsOf())
      expect(weeks.reduce((sum, amount) => sum + amount, 0n)).toBe(6n)
      await publish(3, [daily])
      expect(await bucketsOf()).toEqual({ [dayOf(now)]: 5n, [dayOf(now - day)]: 2n })
    })

    it('store amounts beyond 64 bits and below zero', async () => {
      await publish(1, [daily])
      const large = 2n ** 62n
      for (let n = 0; n < 5; n += 1) {
        await count(hot(), [use(now, large), use(now, large), use(now - day, -large)])
      }
      expect(await bucketsOf()).toEqual({
        [dayOf(now)]: 10n * large,
        [dayOf(now - day)]: -5n * large,
      })
    })

    it('are published in batches with other entries', async () => {
      const names = Array.from({ length: 30 }, (_, n) => `customer ${n}`)
      const windows = [{ id: 'w', fromSecond: 0, toSecond: now + day }]
      for (const version of [1, 2]) {
        const entries = names.map((subject, n) => {
          const entry = { subject, scope: 'prd_a', version, document: `${version}`, windows }
          return n % 2 === 0 ? { ...entry, buckets: [daily] } : entry
        })
        await hot().putEntries(space, partition, entries)
        await count(
          hot(),
          names.map((subject) => ({ ...use(now, 3n), subject })),
        )
      }
      for (const [n, subject] of names.entries()) {
        const expected = n % 2 === 0 ? { [dayOf(now)]: 6n } : {}
        expect(await bucketsOf('daily', { ...at, subject })).toEqual(expected)
        expect((await hot().readEntry({ ...at, subject }, 'calls')).document).toBe('2')
      }
    })

    it('are refused for specs that cannot be', async () => {
      for (const buckets of [[daily, daily], [{ ...daily, seconds: 0 }]]) {
        await expect(publish(1, buckets)).rejects.toThrow(RangeError)
        const entry = { ...at, version: 1, document: '', windows: [], buckets }
        await expect(hot().putEntries(space, partition, [entry])).rejects.toThrow(RangeError)
      }
      expect(await hot().readEntryDocument(at)).toBeUndefined()
    })
  })

  describe('restored buckets', () => {
    it('have the spans that one bucket of each spec contains; others are cut', async () => {
      const windows = [{ id: 'w', fromSecond: 0, toSecond: now + 30 * day }]
      await hot().putEntry(at, { version: 1, document: '', windows, buckets: [daily, weekly] })
      await count(hot(), [use(now, 1_000n)])
      const today = dayOf(now) * day
      const restore = await beginRestore(hot(), at)
      const spans = [
        span(today + 1, today + 5, 1n),
        span(today - day, today + 5, 2n),
        span(today - 30 * day, today - 20 * day, 4n),
        span(today, today, 8n),
        span(today + 1, today + 2, 16n, 'prd_b'),
        span(today - day + 1, today - 1, 32n),
      ]
      expect(await restore.add(spans)).toEqual({ cut: [1], outside: [4] })
      await restore.finish(10)
      expect(await bucketsOf()).toEqual({ [dayOf(now)]: 9n, [dayOf(now) - 1]: 32n })
      expect((await hot().readEntry(at, 'calls')).amounts.get('w')).toBe(45n)
    })

    it('have usage that no window contains, by seconds', async () => {
      await publish(1, [daily])
      const today = dayOf(now) * day
      const restore = await beginRestore(hot(), at)
      const before = today - 2 * day
      const limits = { slotsBeforeSecond: today - day, knownSubjectSlotsBeforeSecond: today - day }
      const spans = [span(before, before + 9, 1n), span(before - 90 * day, before - 80 * day, 2n)]
      expect(await restore.add(spans, limits)).toEqual({ cut: [0], outside: [1] })
      await restore.add([span(before, before, 4n), span(before + 1, before + 1, 8n, '')], limits)
      await restore.finish(10)
      expect(await bucketsOf()).toEqual({ [dayOf(now) - 2]: 12n })
    })

    it('start with the slots of both counts if the spec is published meanwhile', async () => {
      await publish(1, [])
      const early = now - 3_600
      await count(hot(), [use(early, 1n), use(early + 60, 2n, '')])
      const restore = await beginRestore(hot(), at)
      await restore.add([span(early, early, 10n), span(early + 60, early + 60, 20n, '')])
      const all: BucketSpec = { ...weekly, id: 'daily', seconds: 300 * day, offsetSeconds: 0 }
      await publish(2, [all])
      expect(Object.values(await bucketsOf())).toEqual([3n])
      await restore.add([span(early, early, 40n)])
      await restore.finish(10)
      expect(Object.values(await bucketsOf())).toEqual([70n])
    })
  })

  describeBucketsAgainstModel(hot)

  describe('swept buckets', () => {
    it('are those of specs that were withdrawn long ago, and of series without recent usage', async () => {
      const windows = [
        { id: 'old', fromSecond: 0, toSecond: 10 },
        { id: 'w', fromSecond: now - 600, toSecond: now + day },
      ]
      const publishWith = (version: number, buckets: readonly BucketSpec[]) =>
        hot().putEntry(at, { version, document: '', windows, buckets })
      await publishWith(1, [daily, weekly])
      await count(hot(), [use(now, 1n)])
      await publishWith(2, [daily])
      await sweepAll(hot(), now - 600)
      await publishWith(3, [daily, weekly])
      expect(Object.values(await bucketsOf('weekly'))).toEqual([1n])
      await publishWith(4, [daily])
      await sweepAll(hot(), Math.floor(Date.now() / 1_000) + 2)
      await publishWith(5, [daily, weekly])
      expect(await bucketsOf()).toEqual({ [dayOf(now)]: 1n })
      expect(await bucketsOf('weekly')).toEqual({})
      await sweepAll(hot(), now + 60 * day)
      expect((await hot().readEntry(at, 'calls')).buckets).toBeUndefined()
    })

    it('leave nothing of a deleted entry', async () => {
      await publish(1, [daily])
      await count(hot(), [use(now, 1n)])
      await hot().deleteEntry(at)
      await sweepAll(hot(), now + 60 * day)
      await publish(2, [daily])
      expect((await hot().readEntry(at, 'calls')).buckets).toBeUndefined()
    })
  })
}

function use(second: number, amount: bigint, scope = 'prd_a'): Increment {
  return { subject: at.subject, scope, series: 'calls', second, amount }
}

function span(fromSecond: number, lastSecond: number, amount: bigint, scope = 'prd_a'): Span {
  return { subject: at.subject, scope, series: 'calls', fromSecond, lastSecond, amount }
}

async function count(hot: HotState, increments: readonly Increment[]): Promise<void> {
  const expectedOffset = await hot.appliedOffset(space, partition)
  const nextOffset = expectedOffset + 10
  const batch = { space, partition, expectedOffset, nextOffset, marks: [], increments }
  expect(await hot.apply(batch)).toBe('applied')
}

async function sweepAll(hot: HotState, windowsEndedBeforeSecond: number): Promise<void> {
  const limits = { ...nothingExpired, windowsEndedBeforeSecond }
  while ((await hot.sweep(space, partition, limits)) > 0);
}
