import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { EntryView, HotState, RestoreStep, Span, Window } from '../hot-state/hot-state.ts'
import { HotStateModel } from './hot-state-model.ts'
import { nothingExpired } from './nothing-expired.ts'

const partition = 3

/** Runs random steps on hot state and on a model, and compares the results. */
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
          const run: Run = {
            space,
            hot,
            model,
            stepsTaken: 0,
            tokens: ['of nobody'],
            lastRestored: {},
          }
          for (const step of steps) {
            await take(step, run)
            run.stepsTaken += 1
          }
          await compare(run)
          if (!model.isRestoring) return
          await finishRestore(run)
          await compare(run)
        },
      ),
      { numRuns: 150 },
    )
  }, 120_000)
}

const subjects = ['s1', 's2']
const scopes = ['', 'a', 'b']
const series = ['calls', 'tokens']
const ids = ['i1', 'i2', 'i3', 'i4', 'i5']

type Run = {
  readonly space: string
  readonly hot: HotState
  readonly model: HotStateModel
  stepsTaken: number
  /** Tokens of the started restores, the newest last. */
  readonly tokens: string[]
  /** Content of the last step of a restore, which is sent again when the step is repeated. */
  lastRestored: Pick<RestoreStep, 'spans' | 'marks' | 'markedOffset'>
}

const periodSeconds = 100_000

/** A window that is published again later is longer. */
function windowOf(period: number, stepsTaken: number): Window {
  const fromSecond = period * periodSeconds
  return { id: `w${period}`, fromSecond, toSecond: fromSecond + 60_000 + stepsTaken * 500 }
}

const periodsArbitrary = fc.subarray([0, 1, 2, 3, 4])
const addressArbitrary = fc.record({
  subject: fc.constantFrom(...subjects),
  scope: fc.constantFrom(...scopes),
})
/** Amounts whose sums exceed every limit of a store of 64-bit integers. */
const around64BitsArbitrary = fc
  .tuple(fc.constantFrom(53n, 62n, 63n, 64n), fc.constantFrom(-1n, 0n, 1n))
  .map(([bits, off]) => 2n ** bits + off)
const amountArbitrary = fc.oneof(fc.bigInt({ min: 0n, max: 10n ** 16n }), around64BitsArbitrary)
const secondArbitrary = fc.oneof(
  fc.nat(600_000),
  fc.constantFrom(0, 59_999, 60_000, 99_999, 100_000, 299_999, 300_000, 400_000, 500_000),
)
const useArbitrary = {
  subject: fc.constantFrom(...subjects),
  scope: fc.constantFrom(...scopes),
  series: fc.constantFrom(...series),
  amount: amountArbitrary,
}
const spanArbitrary: fc.Arbitrary<Span> = fc
  .record({
    ...useArbitrary,
    fromSecond: secondArbitrary,
    length: fc.oneof(fc.constant(0), fc.nat(20), fc.nat(80_000)),
  })
  .map(({ length, ...use }) => ({ ...use, lastSecond: use.fromSecond + length }))
const marksArbitrary = fc.array(
  fc.record({
    id: fc.constantFrom(...ids),
    offset: fc.nat(1000),
    receivedAtMs: fc.constant(1),
  }),
  { maxLength: 4 },
)
/** Mostly the next step of the newest restore; otherwise of an older restore, or a step too early or too late. */
const restorePlaceArbitrary = {
  age: fc.constantFrom(0, 0, 0, 0, 0, 1),
  shift: fc.constantFrom(0, 0, 0, 0, 0, -1, 1),
}
const stepArbitrary = fc.oneof(
  fc.record({
    kind: fc.constant('put' as const),
    address: addressArbitrary,
    version: fc.integer({ min: 1, max: 4 }),
    periods: periodsArbitrary,
  }),
  fc.record({ kind: fc.constant('delete' as const), address: addressArbitrary }),
  fc.record({
    kind: fc.constant('claim' as const),
    marks: marksArbitrary,
    fromOffset: fc.nat(30),
    records: fc.nat(10),
  }),
  fc.record({
    kind: fc.constant('apply' as const),
    /** 0 follows the fence; other values are a replay or a gap, which must be refused. */
    shift: fc.constantFrom(0, 0, 0, 0, -1, 1),
    records: fc.nat(5),
    marks: marksArbitrary,
    increments: fc.array(fc.record({ ...useArbitrary, second: secondArbitrary }), { maxLength: 8 }),
  }),
  fc.record({ kind: fc.constant('begin' as const) }),
  fc.record({
    kind: fc.constant('restore' as const),
    ...restorePlaceArbitrary,
    spans: fc.array(spanArbitrary, { maxLength: 8 }),
    marks: marksArbitrary,
    markedOffset: fc.nat(30),
  }),
  fc.record({
    kind: fc.constant('finish' as const),
    ...restorePlaceArbitrary,
    nextOffset: fc.nat(1000),
  }),
  fc.record({
    kind: fc.constant('sweep' as const),
    // The end of a window, however long it has become, is between two of these times.
    endedBeforeSecond: fc.nat(6).map((period) => period * periodSeconds),
    keysMax: fc.constantFrom(1, 3, 1000),
  }),
)
type Step = typeof stepArbitrary extends fc.Arbitrary<infer S> ? S : never

async function take(step: Step, run: Run): Promise<void> {
  const { space, hot, model } = run
  switch (step.kind) {
    case 'put': {
      const { version } = step
      const windows = step.periods.map((period) => windowOf(period, run.stepsTaken))
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
      const { marks, fromOffset, records } = step
      const toOffset = fromOffset + records
      const claim = { space, partition, fromOffset, toOffset, marks }
      expect(await hot.claimMarks(claim)).toEqual(model.claimMarks(claim))
      return
    }
    case 'apply': {
      const expectedOffset = Math.max(0, model.appliedOffset + step.shift)
      const nextOffset = expectedOffset + step.records
      const { marks, increments } = step
      const batch = { space, partition, expectedOffset, nextOffset, marks, increments }
      expect(await hot.apply(batch)).toBe(model.apply(batch))
      return
    }
    case 'begin':
      run.tokens.push(await hot.beginRestore(space, partition))
      model.beginRestore(run.tokens.at(-1)!)
      return
    case 'restore': {
      const restoreStep = restoreStepOf(step, run)
      expect(await hot.restore(restoreStep)).toEqual(model.restore(restoreStep))
      return
    }
    case 'finish': {
      const finish = { ...restorePlace(step, run), nextOffset: step.nextOffset }
      expect(await hot.finishRestore(finish)).toBe(model.finishRestore(finish))
      return
    }
    case 'sweep': {
      const { endedBeforeSecond: windowsEndedBeforeSecond, keysMax } = step
      const limits = { ...nothingExpired, windowsEndedBeforeSecond, keysMax }
      while ((await hot.sweep(space, partition, limits)) > 0);
      model.sweepWindows(windowsEndedBeforeSecond)
    }
  }
}

function restoreStepOf(
  { age, shift, spans, marks, markedOffset }: Extract<Step, { kind: 'restore' }>,
  run: Run,
): RestoreStep {
  const isRepeated = age === 0 && shift === -1
  if (age === 0 && shift === 0) run.lastRestored = { spans, marks, markedOffset }
  const content = isRepeated ? run.lastRestored : { spans, marks, markedOffset }
  return { ...restorePlace({ age, shift }, run), ...content }
}

function restorePlace(place: { readonly age: number; readonly shift: number }, run: Run) {
  const token = run.tokens.at(-1 - place.age) ?? run.tokens[0]!
  const step = Math.max(0, run.model.nextRestoreStep + place.shift)
  return { space: run.space, partition, token, step }
}

/** Finishes an unfinished restore, so that its shadow is compared as well. */
async function finishRestore(run: Run): Promise<void> {
  const finish = { ...restorePlace({ age: 0, shift: 0 }, run), nextOffset: 7 }
  expect(await run.hot.finishRestore(finish)).toBe('restored')
  expect(run.model.finishRestore(finish)).toBe('restored')
}

async function compare({ space, hot, model }: Run): Promise<void> {
  for (const subject of subjects) {
    for (const scope of scopes) {
      for (const each of series) {
        const view = await hot.readEntry({ space, partition, subject, scope }, each)
        expect(counted(view)).toEqual(counted(model.readEntry({ subject, scope }, each)))
      }
    }
  }
  expect(await hot.readMarks(space, partition, ids)).toEqual(model.readMarks(ids))
}

/** A window that has counted only zeros may be reported as 0 or omitted. */
function counted(view: EntryView): EntryView {
  return { ...view, amounts: new Map([...view.amounts].filter(([, amount]) => amount !== 0n)) }
}
