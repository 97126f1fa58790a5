import fc from 'fast-check'
import { expect, it } from 'vitest'
import { bucketAt, oldestKeptBucket, type BucketSpec } from '../hot-state/buckets.ts'
import type { HotState, Increment, Span } from '../hot-state/hot-state.ts'
import { beginRestore } from './begun-restore.ts'
import { BucketsModel } from './buckets-model.ts'
import { nothingExpired } from './nothing-expired.ts'

const partition = 7
const hour = 3_600
const day = 24 * hour

/** Runs random steps on hot state and on a model that keeps every increment, and compares their buckets. */
export function describeBucketsAgainstModel(hotState: () => HotState): void {
  it('have the buckets of a model that keeps every increment', async () => {
    let round = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(stepArbitrary, { minLength: 1, maxLength: 40, size: 'max' }),
        async (steps) => {
          round += 1
          const run: Run = {
            space: `buckets ${round}`,
            hot: hotState(),
            model: new BucketsModel(),
            fence: 0,
            restoring: undefined,
          }
          for (const step of steps) {
            await take(step, run)
            await compare(run)
          }
          if (run.restoring === undefined) return
          await take({ kind: 'finish' }, run)
          await compare(run)
        },
      ),
      { numRuns: 100 },
    )
  }, 120_000)

  it('have all usage that was counted while their spec was published in many steps', async () => {
    const hot = hotState()
    const at = { space: 'meanwhile', partition, subject: 'ada', scope: 'a' }
    const now = Math.floor(Date.now() / 1_000)
    const buckets = [{ ...specs.ages, kept: 1_000 }]
    let fence = 0
    const applySome = async () => {
      const increments = Array.from({ length: 60 }, (_, n): Increment => {
        const second = now - ((n * 7919 + fence) % 100) * 600
        return {
          subject: 'ada',
          scope: n % 2 === 0 ? 'a' : '',
          series: 'calls',
          second,
          amount: 1n,
        }
      })
      const batch = { space: at.space, partition, marks: [], increments }
      await hot.apply({ ...batch, expectedOffset: fence, nextOffset: fence + 60 })
      fence += 60
    }
    await applySome()
    await hot.putEntry(at, { version: 1, document: '', windows: [] })
    const windows = [{ id: 'w', fromSecond: now - day, toSecond: now + day }]
    let isPublished = false
    const published = hot
      .putEntry(at, { version: 2, document: '', windows, buckets })
      .then(() => (isPublished = true))
    while (!isPublished) await applySome()
    await published
    await applySome()
    const view = await hot.readEntry(at, 'calls')
    const sum = [...view.buckets!.get('ages')!.values()].reduce((total, each) => total + each, 0n)
    expect(sum).toBe(BigInt(fence))
    expect(view.amounts.get('w')).toBe(BigInt(fence))
  })
}

type Run = {
  readonly space: string
  readonly hot: HotState
  readonly model: BucketsModel
  fence: number
  restoring: Awaited<ReturnType<typeof beginRestore>> | undefined
}

const subjects = ['s1', 's2']
const scopes = ['', 'a', 'b']
const series = ['calls', 'tokens']
const specs = {
  minutes: { id: 'minutes', seconds: 60, offsetSeconds: 7, kept: 200 },
  sameMinutes: { id: 'same', seconds: 60, offsetSeconds: 7, kept: 200 },
  ages: { id: 'ages', seconds: 600, offsetSeconds: 0, kept: 12 },
  changed: { id: 'ages', seconds: 700, offsetSeconds: -50, kept: 12 },
  weeks: { id: 'weeks', seconds: 7 * day, offsetSeconds: 4 * day, kept: 2 },
} as const satisfies Record<string, BucketSpec>
const specsArbitrary = fc
  .subarray<BucketSpec>([specs.minutes, specs.sameMinutes, specs.ages, specs.changed, specs.weeks])
  .filter((some) => new Set(some.map(({ id }) => id)).size === some.length)

const addressArbitrary = fc.record({
  subject: fc.constantFrom(...subjects),
  scope: fc.constantFrom(...scopes),
})
/** Up to 4 hours ahead, which is within the buckets that are kept, and far behind. */
const agoArbitrary = fc.oneof(
  fc.integer({ min: -4 * hour, max: 4 * hour }),
  fc.integer({ min: 0, max: 20 * day }),
)
const useArbitrary = {
  subject: fc.constantFrom(...subjects),
  scope: fc.constantFrom(...scopes),
  series: fc.constantFrom(...series),
  ago: agoArbitrary,
  amount: fc.oneof(
    fc.bigInt({ min: -5n, max: 10n ** 16n }),
    fc.constantFrom(2n ** 53n, 2n ** 62n - 1n, 2n ** 62n, 2n ** 64n + 1n),
  ),
}
const stepArbitrary = fc.oneof(
  fc.record({
    kind: fc.constant('put' as const),
    address: addressArbitrary,
    version: fc.integer({ min: 1, max: 4 }),
    hasWindow: fc.boolean(),
    buckets: specsArbitrary,
  }),
  fc.record({ kind: fc.constant('delete' as const), address: addressArbitrary }),
  fc.record({
    kind: fc.constant('apply' as const),
    uses: fc.array(fc.record(useArbitrary), { maxLength: 8 }),
  }),
  fc.record({ kind: fc.constant('begin' as const) }),
  fc.record({
    kind: fc.constant('restore' as const),
    spans: fc.array(
      fc.record({ ...useArbitrary, length: fc.oneof(fc.constant(0), fc.nat(90), fc.nat(2 * day)) }),
      { maxLength: 8 },
    ),
  }),
  fc.record({ kind: fc.constant('finish' as const) }),
  fc.record({ kind: fc.constant('sweep' as const) }),
)
type Step = typeof stepArbitrary extends fc.Arbitrary<infer S> ? S : never

async function take(step: Step, run: Run): Promise<void> {
  const { space, hot, model } = run
  const now = Math.floor(Date.now() / 1_000)
  switch (step.kind) {
    case 'put': {
      const { version, buckets } = step
      const windows = step.hasWindow
        ? [{ id: 'w', fromSecond: midnight - 5 * day, toSecond: midnight + 5 * day }]
        : []
      const entry = { version, document: '', windows, buckets }
      await hot.putEntry({ space, partition, ...step.address }, entry)
      model.putEntry(step.address, entry)
      return
    }
    case 'delete':
      await hot.deleteEntry({ space, partition, ...step.address })
      model.deleteEntry(step.address)
      return
    case 'apply': {
      const increments = step.uses.map(({ ago, ...use }) => ({ ...use, second: now - ago }))
      const batch = { space, partition, expectedOffset: run.fence, marks: [], increments }
      run.fence += 10
      expect(await hot.apply({ ...batch, nextOffset: run.fence })).toBe('applied')
      model.apply(increments)
      return
    }
    case 'begin':
      run.restoring = await beginRestore(hot, { space, partition })
      model.beginRestore()
      return
    case 'restore': {
      if (run.restoring === undefined) return
      const spans = step.spans.map(({ ago, length, ...use }): Span => {
        const fromSecond = now - ago
        const lastSecond = Math.min(fromSecond + length, now + 4 * hour)
        return { ...use, fromSecond, lastSecond }
      })
      await restore(run, run.restoring, spans)
      return
    }
    case 'finish':
      if (run.restoring === undefined) return
      expect(await run.restoring.finish(run.fence)).toBe('restored')
      run.restoring = undefined
      model.finishRestore()
      return
    case 'sweep':
      // Deletes no window, and no spec that this run has withdrawn.
      await hot.sweep(space, partition, { ...nothingExpired, windowsEndedBeforeSecond: now - 60 })
  }
}

/** Adds spans, and each that is not taken by its first and its last second. */
async function restore(
  { model }: Run,
  restoring: Exclude<Run['restoring'], undefined>,
  spans: readonly Span[],
): Promise<void> {
  const answer = await restoring.add(spans)
  if (answer === 'fenced') throw new Error('Nothing else restores')
  const isNotTaken = new Set([...answer.cut, ...answer.outside])
  const seconds = [...isNotTaken].flatMap((index): Span[] => {
    const { fromSecond, lastSecond, ...use } = spans[index]!
    return [fromSecond, lastSecond].map((second) => {
      return { ...use, fromSecond: second, lastSecond: second }
    })
  })
  expect(await restoring.add(seconds)).toEqual({ cut: [], outside: [] })
  for (const each of [...spans.filter((_, index) => !isNotTaken.has(index)), ...seconds]) {
    // All of a span that is taken is in one bucket, or in none that is kept.
    model.restore({ ...each, fromSecond: each.lastSecond })
  }
}

const midnight = Math.floor(Date.now() / 1_000 / day) * day

async function compare({ space, hot, model }: Run): Promise<void> {
  for (const subject of subjects) {
    for (const scope of scopes) {
      const { series: views } = await hot.readEntrySeries(
        { space, partition, subject, scope },
        series,
      )
      const now = Math.floor(Date.now() / 1_000)
      for (const each of series) {
        const actual: Record<string, Record<number, bigint>> = {}
        for (const [id, buckets] of views.get(each)!.buckets ?? []) {
          actual[id] = Object.fromEntries(buckets)
        }
        const expected = model.buckets({ subject, scope }, each, now)
        expect(keptOf(actual, now)).toEqual(keptOf(expected, now))
      }
    }
  }
}

/** Returns the amounts other than 0 of buckets that are kept at that time whichever form a spec id has. */
function keptOf(sums: Record<string, Record<number, bigint>>, now: number) {
  const entries = Object.entries(sums).map(([id, buckets]) => {
    const ofId = Object.values<BucketSpec>(specs).filter((spec) => spec.id === id)
    const isKept = (bucket: number): boolean =>
      ofId.every((spec) => {
        const isOfSpec = Math.abs(bucket - bucketAt(spec, now)) < spec.kept + 400
        return !isOfSpec || bucket >= oldestKeptBucket(spec, now)
      })
    const kept = Object.entries(buckets).filter(
      ([bucket, amount]) => amount !== 0n && isKept(Number(bucket)),
    )
    return [id, kept] as const
  })
  return entries.filter(([, kept]) => kept.length > 0).sort()
}
