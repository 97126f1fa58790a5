import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { EntryAddress, HotState, NamedEntry } from '../hot-state/hot-state.ts'

const space = 'live'
const series = 'calls'
const subjects = ['4:prov_ada', '4:prov_bob']
const scopes = ['', 'prd_a', 'prd_b']
const windows = [
  { id: 'w1', fromSecond: 0, toSecond: 100 },
  { id: 'w2', fromSecond: 100, toSecond: 200 },
  { id: 'w3', fromSecond: 200, toSecond: 900 },
  { id: 'w4', fromSecond: 900, toSecond: 1_000 },
  { id: 'w5', fromSecond: 1_000, toSecond: 2_000 },
]

const entries: fc.Arbitrary<NamedEntry> = fc.record({
  subject: fc.constantFrom(...subjects),
  scope: fc.constantFrom(...scopes),
  version: fc.integer({ min: 1, max: 4 }),
  document: fc.string({ maxLength: 5 }),
  windows: fc.subarray(windows),
})

const increments = fc.record({
  subject: fc.constantFrom(...subjects),
  scope: fc.constantFrom(...scopes),
  series: fc.constant(series),
  second: fc.integer({ min: 0, max: 2_100 }),
  amount: fc.bigInt({ min: 1n, max: 1n << 62n }),
})

/** Some of the usage is in slots, and some is counted, when the next entries are published. */
const rounds = fc.array(
  fc.record({
    used: fc.array(increments, { maxLength: 6 }),
    put: fc.array(entries, { maxLength: 8 }),
  }),
  { minLength: 1, maxLength: 4 },
)

/** Publishing entries together has the same result as publishing them one after the other. */
export function describePutEntries(hotState: () => HotState): void {
  it('publishes many entries at once with the same result as one by one', async () => {
    let partition = 0
    await fc.assert(
      fc.asyncProperty(rounds, async (steps) => {
        const together = partition++
        const oneByOne = partition++
        for (const [step, { used, put }] of steps.entries()) {
          for (const at of [together, oneByOne]) {
            const offsets = { expectedOffset: step, nextOffset: step + 1 }
            const batch = { space, partition: at, ...offsets, marks: [], increments: used }
            expect(await hotState().apply(batch)).toBe('applied')
          }
          await hotState().putEntries(space, together, put)
          for (const { subject, scope, ...entry } of put) {
            await hotState().putEntry({ space, partition: oneByOne, subject, scope }, entry)
          }
          expect(await readAll(hotState(), together)).toEqual(await readAll(hotState(), oneByOne))
        }
      }),
      { numRuns: 30 },
    )
  })
}

function readAll(hotState: HotState, partition: number): Promise<unknown[]> {
  const places: EntryAddress[] = subjects.flatMap((subject) =>
    scopes.map((scope) => ({ space, partition, subject, scope })),
  )
  return Promise.all(places.map(async (at) => await hotState.readEntry(at, series)))
}
