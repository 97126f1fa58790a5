import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { HotState } from '../hot-state/hot-state.ts'
import { HotStateModel } from './hot-state-model.ts'

const partition = 3

/** Random steps, taken by both; afterwards they must show the same. */
export function describeHotStateAgainstModel(hotState: () => HotState): void {
  it('agrees with a model that remembers every step', async () => {
    let round = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(stepArbitrary, { minLength: 1, maxLength: 60, size: 'max' }),
        async (steps) => {
          round += 1
          const model = new HotStateModel()
          const hot = hotState()
          const space = `round ${round}`
          for (const step of steps) await take(step, space, hot, model)
          await compare(space, hot, model)
        },
      ),
      { numRuns: 100 },
    )
  }, 120_000)
}

const subjects = ['s1', 's2']
const scopes = ['', 'a', 'b']
const series = ['calls', 'tokens']
const ids = ['i1', 'i2', 'i3', 'i4', 'i5']

const windowsArbitrary = fc
  .subarray([0, 1, 2, 3, 4])
  .map((periods) =>
    periods.map((n) => ({ id: `w${n}`, fromSecond: n * 100_000, toSecond: (n + 1) * 100_000 })),
  )
const addressArbitrary = fc.record({
  subject: fc.constantFrom(...subjects),
  scope: fc.constantFrom(...scopes),
})
/** Sums of these pass every bound that a store of 64-bit integers has. */
const around64BitsArbitrary = fc
  .tuple(fc.constantFrom(53n, 62n, 63n, 64n), fc.constantFrom(-1n, 0n, 1n))
  .map(([bits, off]) => 2n ** bits + off)
const stepArbitrary = fc.oneof(
  fc.record({
    kind: fc.constant('put' as const),
    address: addressArbitrary,
    version: fc.integer({ min: 1, max: 4 }),
    windows: windowsArbitrary,
  }),
  fc.record({ kind: fc.constant('delete' as const), address: addressArbitrary }),
  fc.record({
    kind: fc.constant('claim' as const),
    marks: fc.array(fc.record({ id: fc.constantFrom(...ids), offset: fc.nat(1000) })),
  }),
  fc.record({
    kind: fc.constant('apply' as const),
    /** 0: follows; otherwise a replay or a gap, which must be refused. */
    shift: fc.constantFrom(0, 0, 0, 0, -1, 1),
    records: fc.nat(5),
    marks: fc.array(fc.record({ id: fc.constantFrom(...ids), offset: fc.nat(1000) }), {
      maxLength: 4,
    }),
    increments: fc.array(
      fc.record({
        subject: fc.constantFrom(...subjects),
        scope: fc.constantFrom(...scopes),
        series: fc.constantFrom(...series),
        second: fc.oneof(fc.nat(600_000), fc.constantFrom(0, 99_999, 100_000, 399_999, 500_000)),
        amount: fc.oneof(fc.bigInt({ min: 0n, max: 10n ** 16n }), around64BitsArbitrary),
      }),
      { maxLength: 8 },
    ),
  }),
)
type Step = typeof stepArbitrary extends fc.Arbitrary<infer S> ? S : never

async function take(step: Step, space: string, hot: HotState, model: HotStateModel): Promise<void> {
  switch (step.kind) {
    case 'put': {
      const { version, windows } = step
      const published = { version, windows, document: JSON.stringify({ version, windows }) }
      await hot.putEntry({ space, partition, ...step.address }, published)
      model.putEntry(step.address, published)
      return
    }
    case 'delete':
      await hot.deleteEntry({ space, partition, ...step.address })
      model.deleteEntry(step.address)
      return
    case 'claim': {
      const marks = step.marks.map((mark) => ({ ...mark, receivedAtMs: 1 }))
      expect(await hot.claimMarks(space, partition, marks)).toEqual(model.claimMarks(marks))
      return
    }
    case 'apply': {
      const expectedOffset = Math.max(0, model.appliedOffset + step.shift)
      const marks = step.marks.map((mark) => ({ ...mark, receivedAtMs: 1 }))
      const nextOffset = expectedOffset + step.records
      const { increments } = step
      const batch = { space, partition, expectedOffset, nextOffset, marks, increments }
      expect(await hot.apply(batch)).toBe(model.apply(batch))
    }
  }
}

async function compare(space: string, hot: HotState, model: HotStateModel): Promise<void> {
  for (const subject of subjects) {
    for (const scope of scopes) {
      for (const each of series) {
        const view = await hot.readEntry({ space, partition, subject, scope }, each)
        expect(view).toEqual(model.readEntry({ subject, scope }, each))
      }
    }
  }
  expect(await hot.readMarks(space, partition, ids)).toEqual(model.readMarks(ids))
}
