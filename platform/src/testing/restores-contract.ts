import { expect, it } from 'vitest'
import type { Entry, HotState, Increment, Mark, Span } from '../hot-state/hot-state.ts'
import { beginRestore } from './begun-restore.ts'
import { nothingExpired } from './nothing-expired.ts'
import { describeRestoredAgainstCounted } from './restored-against-counted.ts'

const [space, partition] = ['live', 5]
const day = 86_400
const at = { space, partition, subject: 'ada', scope: 'prd_a' }

/** Tests of rebuilding counts beside the counts in use. */
export function describeRestores(open: () => { readonly hot: HotState }): void {
  it('replaces the counts in use and their fence in one step', async () => {
    const { hot } = open()
    await hot.putEntry(at, entry(1, [['w', 0, 10 * day]]))
    await count(hot, [use(5, 1n), use(6, 2n, '')])
    const restore = await beginRestore(hot, at)
    expect(await restore.add([span(0, 9 * day, 70n), span(day, day, 5n, '')])).toEqual(allTaken)
    expect(await amounts(hot)).toEqual({ w: 3n })
    expect(await hot.appliedOffset(space, partition)).toBe(10)
    expect(await restore.finish(500)).toBe('restored')
    expect(await hot.readEntry(at, 'calls')).toEqual({
      document: '{"version":1}',
      amounts: new Map([['w', 75n]]),
      appliedOffset: 500,
    })
    await count(hot, [use(7, 100n)])
    expect(await amounts(hot)).toEqual({ w: 175n })
  })

  it('takes a span that one window contains, and returns the reason for refusing another', async () => {
    const { hot } = open()
    const first = [
      ['a', 0, 100],
      ['b', 100, 200],
    ] as const
    await hot.putEntry(at, entry(1, first))
    await hot.putEntry({ ...at, scope: 'prd_b' }, entry(1, [['c', 300, 400]]))
    const overlapping = [
      ['p', 0, 100],
      ['q', 50, 150],
    ] as const
    await hot.putEntry({ ...at, subject: 'bob' }, entry(1, overlapping))
    const restore = await beginRestore(hot, at)
    const spans = [
      span(0, 99, 1n),
      span(99, 100, 2n),
      span(150, 200, 4n),
      span(200, 1_000, 8n),
      span(320, 330, 16n, ''),
      span(400, 500, 32n, ''),
      span(100, 199, 64n),
      span(320, 330, 128n, 'prd_c'),
      span(320, 330, 256n),
      span(320, 330, 512n, 'prd_b'),
      span(700, 700, 1_024n),
      { ...span(60, 90, 2_048n), subject: 'bob' },
    ]
    expect(await restore.add(spans)).toEqual({ cut: [1, 2, 4, 11], outside: [3, 5, 7, 8] })
    await restore.finish(0)
    expect(await amounts(hot)).toEqual({ a: 1n, b: 64n })
    expect(await amounts(hot, { ...at, scope: 'prd_b' })).toEqual({ c: 512n })
    await hot.putEntry(at, entry(2, [...first, ['late', 200, 1_000]]))
    expect(await amounts(hot)).toEqual({ a: 1n, b: 64n, late: 1_024n })
  })

  it('takes unscoped days whose slots are settled, and adds nothing to those slots', async () => {
    const { hot } = open()
    const windows = [
      ['a', 0, 2 * day],
      ['b', 2 * day, 6 * day],
    ] as const
    await hot.putEntry(at, entry(1, windows))
    await hot.putEntry({ ...at, scope: '' }, entry(1, []))
    const limits = { slotsBeforeSecond: 0, knownSubjectSlotsBeforeSecond: 5 * day }
    const restore = await beginRestore(hot, at)
    const spans = [
      span(0, day, 1n, ''),
      span(day, 3 * day, 2n, ''),
      span(4 * day, 5 * day, 4n, ''),
      span(3 * day, 3 * day, 8n, ''),
      span(5 * day, 5 * day, 16n, ''),
      span(10, 10, 32n, 'prd_b'),
    ]
    expect(await restore.add(spans, limits)).toEqual({ cut: [1, 2], outside: [] })
    await restore.finish(0)
    expect(await amounts(hot)).toEqual({ a: 1n, b: 24n })
    await hot.putEntry({ ...at, scope: 'prd_b' }, entry(1, [['c', 0, 6 * day]]))
    expect(await amounts(hot, { ...at, scope: 'prd_b' })).toEqual({ c: 16n })
  })

  it('folds the slots of both counts into an entry that is published during a restore', async () => {
    const { hot } = open()
    await count(hot, [use(5, 1n), use(6, 2n, '')])
    const restore = await beginRestore(hot, at)
    await restore.add([span(5, 5, 10n), span(6, 6, 20n, '')])
    await hot.putEntry(at, entry(1, [['w', 0, 100]]))
    expect(await amounts(hot)).toEqual({ w: 3n })
    await restore.add([span(7, 90, 40n)])
    await count(hot, [use(7, 4n)])
    expect(await amounts(hot)).toEqual({ w: 7n })
    await restore.finish(20)
    expect(await amounts(hot)).toEqual({ w: 70n })
    await hot.putEntry({ ...at, scope: 'prd_b' }, entry(1, [['v', 0, 100]]))
    expect(await amounts(hot, { ...at, scope: 'prd_b' })).toEqual({ v: 20n })
  })

  it('keeps marks and entries', async () => {
    const { hot } = open()
    await hot.putEntry(at, entry(3, []))
    const marks = ['early', 'late'].map((id, n) => ({ id, offset: 3 + n, receivedAtMs: 1 }))
    const [early, late] = marks as [Mark, Mark]
    const claim = { space, partition, fromOffset: 0, toOffset: 4 }
    await hot.claimMarks({ ...claim, marks: [early] })
    const restore = await beginRestore(hot, at)
    await hot.claimMarks({ ...claim, marks: [late] })
    await restore.finish(10)
    expect(await hot.readMarks(space, partition, ['early', 'late'])).toEqual([3, 4])
    await hot.putEntry(at, entry(2, []))
    expect(await hot.readEntryDocument(at)).toBe('{"version":3}')
  })

  it('sets marks with its steps, and records how far they are complete unless another restore has begun', async () => {
    const { hot } = open()
    const claim = { space, partition, fromOffset: 50, toOffset: 60, marks: [] }
    const mark = (id: string, offset: number) => ({ id, offset, receivedAtMs: 1 })
    await count(hot, [])
    const zombie = await beginRestore(hot, at)
    await zombie.mark([mark('a', 1)], 0)
    const restore = await beginRestore(hot, at)
    expect(await zombie.mark([mark('b', 2)], 50)).toBe('fenced')
    expect(await hot.claimMarks(claim)).toBe('incomplete')
    expect(await restore.mark([mark('a', 9), mark('c', 3)], 50)).toEqual(allTaken)
    expect(await hot.readMarks(space, partition, ['a', 'b', 'c'])).toEqual([1, undefined, 3])
    expect(await hot.claimMarks(claim)).toEqual([])
    expect(await hot.appliedOffset(space, partition)).toBe(10)
  })

  it('refuses all but the newest restore, and all but its next step', async () => {
    const { hot } = open()
    await hot.putEntry(at, entry(1, [['w', 0, 100]]))
    await count(hot, [use(1, 1n)])
    const place = { space, partition, spans: [span(1, 1, 1_000n)] }
    expect(await hot.restore({ ...place, token: 'of nobody', step: 0 })).toBe('fenced')

    const zombie = await beginRestore(hot, at)
    await zombie.add(place.spans)
    const restore = await beginRestore(hot, at)
    expect(restore.token).not.toBe(zombie.token)
    expect(await zombie.add(place.spans)).toBe('fenced')
    expect(await zombie.finish(99)).toBe('fenced')
    const elsewhere = { ...place, token: restore.token, step: 0 }
    expect(await hot.restore({ ...elsewhere, partition: 6 })).toBe('fenced')
    expect(await hot.restore({ ...elsewhere, space: 'sandbox' })).toBe('fenced')

    expect(await restore.add([span(2, 2, 10n)])).toEqual(allTaken)
    expect(await restore.add([])).toEqual(allTaken)
    for (const step of [0, 3]) {
      expect(await hot.restore({ ...place, token: restore.token, step })).toBe('fenced')
      const finish = { space, partition, token: restore.token, step, nextOffset: 99 }
      expect(await hot.finishRestore(finish)).toBe('fenced')
    }
    expect(await amounts(hot)).toEqual({ w: 1n })
    expect(await hot.appliedOffset(space, partition)).toBe(10)
    expect(await restore.finish(20)).toBe('restored')
    expect(await restore.add(place.spans)).toBe('fenced')
    expect(await restore.finish(99)).toBe('fenced')
    expect(await amounts(hot)).toEqual({ w: 10n })
    expect(await hot.appliedOffset(space, partition)).toBe(20)
  })

  it('answers a repeated step, and adds it once', async () => {
    const { hot } = open()
    await hot.putEntry(at, entry(1, [['w', 0, 100]]))
    const token = await hot.beginRestore(space, partition)
    const place = { space, partition, token }
    for (const step of [0, 1]) {
      const spans = [span(1, 1, 1n), span(50, 150, 2n), span(20, 30, 4n), span(200, 300, 8n)]
      for (let times = 0; times < 3; times += 1) {
        expect(await hot.restore({ ...place, step, spans })).toEqual({ cut: [1], outside: [3] })
      }
    }
    await hot.finishRestore({ ...place, step: 2, nextOffset: 10 })
    expect(await hot.restore({ ...place, step: 1, spans: [] })).toBe('fenced')
    expect(await amounts(hot)).toEqual({ w: 10n })
  })

  it('fences a projection that continues with the old counts', async () => {
    const { hot } = open()
    await count(hot, [use(1, 1n)])
    const restore = await beginRestore(hot, at)
    await restore.finish(500)
    const batch = {
      space,
      partition,
      expectedOffset: 10,
      nextOffset: 20,
      marks: [],
      increments: [],
    }
    expect(await hot.apply(batch)).toBe('fenced')
    expect(await hot.apply({ ...batch, expectedOffset: 500, nextOffset: 510 })).toBe('applied')
  })

  it('wakes readers that wait for the counts to advance', async () => {
    const { hot } = open()
    const restore = await beginRestore(hot, at)
    let restoredAt = Infinity
    const restored = new Promise((resolve) => setTimeout(resolve, 30)).then(async () => {
      await restore.finish(10)
      restoredAt = performance.now()
    })
    while ((await hot.appliedOffset(space, partition)) === 0) await hot.waitForApply(60_000)
    await restored
    expect(performance.now() - restoredAt).toBeLessThan(10_000)
  })

  it('sweeps counts that were replaced or dropped, and no others', async () => {
    const { hot } = open()
    const places = Array.from({ length: 20 }, (_, n) => ({ ...at, subject: `s${n}` }))
    for (const each of places) await hot.putEntry(each, entry(1, [['w', 0, 100]]))
    const use = { scope: at.scope, series: 'calls' }
    const increments = places.flatMap(({ subject }) =>
      [50, 500].map((second) => ({ ...use, subject, second, amount: 1n })),
    )
    await count(hot, increments)
    const spans = increments.map(({ second, ...each }) => {
      return { ...each, fromSecond: second, lastSecond: second, amount: 10n }
    })
    await (await beginRestore(hot, at)).add(spans)
    const restore = await beginRestore(hot, at)
    await restore.add(spans)
    // A counter and a slot of each.
    await sweepUntil(hot, 40)
    await restore.finish(10)
    await sweepUntil(hot, 40)
    for (let call = 0; call < 10; call += 1) await hot.sweep(space, partition, nothingExpired)
    for (const each of places) {
      expect(await amounts(hot, each)).toEqual({ w: 10n })
      await hot.putEntry(
        each,
        entry(2, [
          ['w', 0, 100],
          ['v', 100, 1_000],
        ]),
      )
      expect(await amounts(hot, each)).toEqual({ w: 10n, v: 10n })
    }
  })

  it('drops an ended window from the counts in use and from the shadow', async () => {
    const { hot } = open()
    await hot.putEntry(at, entry(1, [['w', 0, 100]]))
    await count(hot, [use(1, 1n)])
    const restore = await beginRestore(hot, at)
    await restore.add([span(1, 50, 10n)])
    const limits = { ...nothingExpired, windowsEndedBeforeSecond: 200, keysMax: 100 }
    await hot.sweep(space, partition, limits)
    expect(await amounts(hot)).toEqual({})
    await restore.finish(10)
    expect(await amounts(hot)).toEqual({})
  })
  describeRestoredAgainstCounted(() => open().hot)
}

const allTaken = { cut: [], outside: [] }

function entry(version: number, windows: readonly (readonly [string, number, number])[]): Entry {
  return {
    version,
    document: `{"version":${version}}`,
    windows: windows.map(([id, fromSecond, toSecond]) => ({ id, fromSecond, toSecond })),
  }
}

function use(second: number, amount: bigint, scope = at.scope): Increment {
  return { subject: at.subject, scope, series: 'calls', second, amount }
}

function span(fromSecond: number, lastSecond: number, amount: bigint, scope = at.scope): Span {
  return { subject: at.subject, scope, series: 'calls', fromSecond, lastSecond, amount }
}

/** Applies one batch at the current fence. */
async function count(hot: HotState, increments: Increment[]): Promise<void> {
  const expectedOffset = await hot.appliedOffset(space, partition)
  const batch = { space, partition, expectedOffset, nextOffset: expectedOffset + 10 }
  expect(await hot.apply({ ...batch, marks: [], increments })).toBe('applied')
}

async function amounts(hot: HotState, address = at): Promise<Record<string, bigint>> {
  return Object.fromEntries((await hot.readEntry(address, 'calls')).amounts)
}

/** Repeats the sweep, because one call visits a limited number of names and may find nothing. */
async function sweepUntil(hot: HotState, sweptMin: number): Promise<void> {
  for (let swept = 0; swept < sweptMin;) swept += await hot.sweep(space, partition, nothingExpired)
}
