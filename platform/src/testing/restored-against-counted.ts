import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { HotState, Increment, SlotLimits, Span } from '../hot-state/hot-state.ts'
import { beginRestore } from './begun-restore.ts'
import { nothingExpired } from './nothing-expired.ts'
import {
  apply,
  day,
  partition,
  publicationArbitrary,
  publish,
  readAll,
  useArbitrary,
} from './uses-and-publications.ts'

/** Restoring from sums and the rest of the log has the same result as counting the whole log. */
export function describeRestoredAgainstCounted(hotState: () => HotState): void {
  it('counts the same from days, cut days by seconds, and the rest of the log as from the whole log', async () => {
    let round = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(useArbitrary, { maxLength: 80, size: 'max' }),
        fc.array(publicationArbitrary, { maxLength: 12, size: 'max' }),
        fc.nat(100),
        async (uses, publications, restoredPercent) => {
          const hot = hotState()
          const worlds = [`counted ${round}`, `restored ${round}`] as const
          round += 1
          const [counted, restored] = worlds
          const restoredTotal = Math.floor((uses.length * restoredPercent) / 100)
          await publish(hot, counted, publications, 'early')
          await apply(hot, counted, 0, uses.slice(0, 20))
          await publish(hot, counted, publications, 'meanwhile')
          await apply(hot, counted, Math.min(20, uses.length), uses.slice(20))
          await publish(hot, counted, publications, 'late')

          await publish(hot, restored, publications, 'early')
          // The previous counts must not be visible afterwards.
          await apply(hot, restored, 0, uses.slice(0, 5))
          await restoreDaily(hot, restored, uses.slice(0, restoredTotal), () =>
            publish(hot, restored, publications, 'meanwhile'),
          )
          await apply(hot, restored, restoredTotal, uses.slice(restoredTotal))
          await publish(hot, restored, publications, 'late')
          const [of, ofAll] = await Promise.all([readAll(hot, restored), readAll(hot, counted)])
          expect(of).toEqual(ofAll)
        },
      ),
      { numRuns: 60 },
    )
  }, 120_000)

  it('adds nothing to slots that a sweep would delete', async () => {
    let round = 0
    const dayArbitrary = fc.integer({ min: 0, max: 5 * day })
    await fc.assert(
      fc.asyncProperty(
        fc.array(useArbitrary, { maxLength: 60, size: 'max' }),
        fc.array(publicationArbitrary, { maxLength: 12, size: 'max' }),
        fc.record({ slotsBeforeSecond: dayArbitrary, knownSubjectSlotsBeforeSecond: dayArbitrary }),
        async (uses, publications, slotLimits) => {
          const hot = hotState()
          const [counted, restored] = [`swept ${round}`, `settled ${round}`]
          round += 1
          for (const world of [counted, restored]) await publish(hot, world, publications, 'early')
          await apply(hot, counted, 0, uses)
          await restoreDaily(hot, restored, uses, async () => {}, slotLimits)
          const limits = { ...nothingExpired, ...slotLimits, keysMax: 1_000 }
          while ((await hot.sweep(counted, partition, limits)) > 0);
          for (const world of [counted, restored]) await publish(hot, world, publications, 'late')
          const [of, ofAll] = await Promise.all([readAll(hot, restored), readAll(hot, counted)])
          expect(of).toEqual(ofAll)
        },
      ),
      { numRuns: 60 },
    )
  }, 120_000)
}

/** Restores from sums: by days first, and cut or outside days by seconds. */
async function restoreDaily(
  hot: HotState,
  world: string,
  uses: readonly Increment[],
  meanwhile: () => Promise<void>,
  slotLimits?: SlotLimits,
): Promise<void> {
  const restore = await beginRestore(hot, { space: world, partition })
  const daily = sumsBy(uses, ({ second }) => Math.floor(second / day))
  let others: Promise<void> | undefined
  for (const days of [daily.slice(0, 5), daily.slice(5, 10), daily.slice(10)]) {
    const notTaken = await restore.add(
      days.map(({ sum }) => sum),
      slotLimits,
    )
    if (notTaken === 'fenced') throw new Error('Somebody else restores')
    const left = [...notTaken.cut, ...notTaken.outside].flatMap((index) => days[index]!.uses)
    others ??= meanwhile()
    await restore.add(
      sumsBy(left, ({ second }) => second).map(({ sum }) => sum),
      slotLimits,
    )
  }
  await others
  expect(await restore.finish(uses.length)).toBe('restored')
}

function sumsBy(uses: readonly Increment[], part: (use: Increment) => number) {
  const groups = new Map<string, Increment[]>()
  for (const each of uses) {
    const name = JSON.stringify([each.subject, each.scope, each.series, part(each)])
    groups.set(name, [...(groups.get(name) ?? []), each])
  }
  return [...groups.values()].map((group) => {
    const seconds = group.map(({ second }) => second)
    const { subject, scope, series } = group[0]!
    const sum: Span = {
      subject,
      scope,
      series,
      fromSecond: Math.min(...seconds),
      lastSecond: Math.max(...seconds),
      amount: group.reduce((total, { amount }) => total + amount, 0n),
    }
    return { sum, uses: group }
  })
}
