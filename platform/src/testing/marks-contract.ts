import { expect, it } from 'vitest'
import type { HotState, Mark } from '../hot-state/hot-state.ts'

const partition = 3

/** Tests of deduplication marks. */
export function describeMarks(open: () => HotState): void {
  it('keeps the first offset of a mark', async () => {
    const hot = open()
    await count(hot, [
      { id: 'a', offset: 0, receivedAtMs: 1 },
      { id: 'a', offset: 1, receivedAtMs: 1 },
    ])
    const claims = ['a', 'b', 'b'].map((id, n) => ({ id, offset: 20 + n, receivedAtMs: 1 }))
    const claim = { space: 'live', partition, fromOffset: 10, toOffset: 23, marks: claims }
    expect(await hot.claimMarks(claim)).toEqual([0, 21, 21])
    await count(hot, [{ id: 'b', offset: 30, receivedAtMs: 1 }])
    expect(await hot.readMarks('live', partition, ['a', 'b', 'c'])).toEqual([0, 21, undefined])
    expect(await hot.readMarks('live', 4, ['a'])).toEqual([undefined])
    expect(await hot.readMarks('sandbox', partition, ['a'])).toEqual([undefined])
  })

  it('claims marks only if all earlier marks are complete', async () => {
    const hot = open()
    const claim = (fromOffset: number, toOffset: number) =>
      hot.claimMarks({
        space: 'live',
        partition,
        fromOffset,
        toOffset,
        marks: [{ id: `from ${fromOffset}`, offset: fromOffset, receivedAtMs: 1 }],
      })
    await count(hot, [])
    expect(await claim(11, 20)).toBe('incomplete')
    expect(await claim(10, 20)).toEqual([10])
    expect(await claim(5, 8)).toEqual([5])
    expect(await claim(20, 30)).toEqual([20])
    expect(await claim(31, 40)).toBe('incomplete')
    const ids = [5, 10, 11, 20, 31].map((offset) => `from ${offset}`)
    expect(await hot.readMarks('live', partition, ids)).toEqual([5, 10, undefined, 20, undefined])
  })
}

/** Applies one batch at the current fence. */
async function count(hot: HotState, marks: Mark[]): Promise<void> {
  const expectedOffset = await hot.appliedOffset('live', partition)
  const nextOffset = expectedOffset + 10
  const batch = { space: 'live', partition, expectedOffset, nextOffset, marks, increments: [] }
  expect(await hot.apply(batch)).toBe('applied')
}
