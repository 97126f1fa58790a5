import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { HotState, Increment, Span } from '../hot-state/hot-state.ts'
import { beginRestore } from './begun-restore.ts'

const partition = 5
const day = 86_400

/** What is made again from sums, and from the log behind them, is what counting the whole log makes. */
export function describeRestoredAgainstCounted(hotState: () => HotState): void {
  it('counts the same from days, what they cut by seconds, and the rest of the log as from all of it', async () => {
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
          // What was counted before is not to be seen afterwards.
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
}

const subjects = ['ada', 'bob']
const scopes = ['', 'prd_a', 'prd_b']
const series = ['calls', 'tokens']

const useArbitrary: fc.Arbitrary<Increment> = fc.record({
  subject: fc.constantFrom(...subjects),
  scope: fc.constantFrom(...scopes),
  series: fc.constantFrom(...series),
  second: fc.nat(4 * day),
  amount: fc.bigInt({ min: 1n, max: 2n ** 64n }),
})

/** Windows are cut anywhere in the four days; what was published stays, and more may be added behind. */
const publicationArbitrary = fc.record({
  time: fc.constantFrom('early' as const, 'meanwhile' as const, 'late' as const),
  subject: fc.constantFrom(...subjects),
  scope: fc.constantFrom(...scopes),
  ends: fc.uniqueArray(fc.integer({ min: 1, max: 5 * day }), { maxLength: 4 }),
})
type Publication = typeof publicationArbitrary extends fc.Arbitrary<infer P> ? P : never

/** Publishes in this order: each entry has the windows of its earlier publications and those behind them. */
async function publish(
  hot: HotState,
  world: string,
  publications: readonly Publication[],
  time: Publication['time'],
): Promise<void> {
  const times = ['early', 'meanwhile', 'late']
  const sorted = publications.toSorted((a, b) => times.indexOf(a.time) - times.indexOf(b.time))
  const ends = new Map<string, number[]>()
  for (const [index, each] of sorted.entries()) {
    const name = JSON.stringify([each.subject, each.scope])
    const before = ends.get(name) ?? []
    const last = before.at(-1) ?? 0
    const all = [...before, ...each.ends.filter((end) => end > last).sort((a, b) => a - b)]
    ends.set(name, all)
    if (each.time !== time) continue
    const windows = all.map((toSecond, n) => {
      return { id: `w${n}`, fromSecond: all[n - 1] ?? 0, toSecond }
    })
    const { subject, scope } = each
    await hot.putEntry(
      { space: world, partition, subject, scope },
      { version: index + 1, document: JSON.stringify(windows), windows },
    )
  }
}

async function apply(
  hot: HotState,
  world: string,
  expectedOffset: number,
  increments: readonly Increment[],
): Promise<void> {
  const nextOffset = expectedOffset + increments.length
  const batch = { space: world, partition, expectedOffset, nextOffset, marks: [], increments }
  expect(await hot.apply(batch)).toBe('applied')
}

/** As one does who has only sums: by days first, and what they cut or leave outside by seconds. */
async function restoreDaily(
  hot: HotState,
  world: string,
  uses: readonly Increment[],
  meanwhile: () => Promise<void>,
): Promise<void> {
  const restore = await beginRestore(hot, { space: world, partition })
  const daily = sumsBy(uses, ({ second }) => Math.floor(second / day))
  for (const [first, days] of [daily.slice(0, 5), daily.slice(5)].entries()) {
    if (first === 1) await meanwhile()
    const notTaken = await restore.add(days.map(({ sum }) => sum))
    if (notTaken === 'fenced') throw new Error('Somebody else restores')
    const left = [...notTaken.cut, ...notTaken.outside].flatMap((index) => days[index]!.uses)
    await restore.add(sumsBy(left, ({ second }) => second).map(({ sum }) => sum))
  }
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

async function readAll(hot: HotState, world: string) {
  const views = []
  for (const subject of subjects) {
    for (const scope of scopes) {
      for (const each of series) {
        views.push(await hot.readEntry({ space: world, partition, subject, scope }, each))
      }
    }
  }
  return views
}
