import fc from 'fast-check'
import { expect } from 'vitest'
import type { HotState, Increment } from '../hot-state/hot-state.ts'

/* Random usage of two customers, and publications of their windows that only add time. */

export const partition = 5
export const day = 86_400

const subjects = ['ada', 'bob']
const scopes = ['', 'prd_a', 'prd_b']
const series = ['calls', 'tokens']

export const useArbitrary: fc.Arbitrary<Increment> = fc.record({
  subject: fc.constantFrom(...subjects),
  scope: fc.constantFrom(...scopes),
  series: fc.constantFrom(...series),
  second: fc.nat(4 * day),
  amount: fc.bigInt({ min: 1n, max: 2n ** 64n }),
})

/** Windows are cut anywhere in the four days. Published windows stay, and more may be added after them. */
export const publicationArbitrary = fc.record({
  time: fc.constantFrom('early' as const, 'meanwhile' as const, 'late' as const),
  subject: fc.constantFrom(...subjects),
  scope: fc.constantFrom(...scopes),
  ends: fc.uniqueArray(fc.integer({ min: 1, max: 5 * day }), { maxLength: 4 }),
})
export type Publication = typeof publicationArbitrary extends fc.Arbitrary<infer P> ? P : never

/** Publishes in this order. Each entry has the windows of its earlier publications and the following ones. */
export async function publish(
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

export async function apply(
  hot: HotState,
  world: string,
  expectedOffset: number,
  increments: readonly Increment[],
): Promise<void> {
  const nextOffset = expectedOffset + increments.length
  const batch = { space: world, partition, expectedOffset, nextOffset, marks: [], increments }
  expect(await hot.apply(batch)).toBe('applied')
}

export async function readAll(hot: HotState, world: string) {
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
