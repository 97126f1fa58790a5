import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { bucketAt } from '../hot-state/buckets.ts'
import type { HotState } from '../hot-state/hot-state.ts'
import type {
  HeldBySeries,
  PlaceRequest,
  ReserveOutcome,
  ReserveRequest,
} from '../hot-state/reservations.ts'
import type { HotStateUnderTest } from './hot-state-under-test.ts'
import { nothingExpired } from './nothing-expired.ts'
import { ReservationsModel } from './reservations-model.ts'

const partition = 3
const scope = 'a'
const subjects = ['s1', 's2']
const ids = ['r1', 'r2', 'r3', 'r4']
const series = ['calls', 'tokens', 'tools']
const window = { id: 'w', fromSecond: 0, toSecond: 1e10 }
/** Usage of these tests is within one bucket, unless it begins at a moment that is 300 days after another. */
const spec = { id: 'long', seconds: 300 * 86_400, offsetSeconds: 0, kept: 3 }
const usageSecond = Math.floor(Date.now() / 1_000)
const usageBucket = bucketAt(spec, usageSecond)
const otherPartitions = [8, 9]
const hourMs = 3_600_000
const documents = ['{}', '{"cap":1}']
const lapsingTtlMs = 1

/** Amounts whose sums exceed every limit of 64-bit integers and of doubles. */
const amountArbitrary = fc.oneof(
  fc.bigInt({ min: 1n, max: 20n }),
  fc.constantFrom(2n ** 53n, 2n ** 53n + 1n, 2n ** 61n, 2n ** 62n - 1n),
)
const capArbitrary = fc.option(
  fc.oneof(
    fc.bigInt({ min: -5n, max: 60n }),
    fc.bigInt({ min: 2n ** 53n, max: 2n ** 53n + 60n }),
    fc.bigInt({ min: 2n ** 62n, max: 2n ** 66n }),
  ),
)
const settledArbitrary = fc.array(
  fc.record({
    subject: fc.constantFrom(...subjects),
    reservationId: fc.constantFrom(...ids),
    isForgotten: fc.boolean(),
    part: fc.option(
      fc.record({
        onEvery: fc.oneof(fc.constant(0n), amountArbitrary),
        bySeries: fc
          .uniqueArray(fc.tuple(fc.constantFrom(...series), amountArbitrary), {
            selector: ([name]) => name,
          })
          .map((units) => new Map(units)),
        offset: fc.nat(30),
        together: fc.constantFrom(...subjects).map((subject) => ({ subject, scope })),
      }),
      { nil: undefined },
    ),
  }),
  { maxLength: 3 },
)
/** How far before the fence the required offset is; a negative number is after the fence. */
const slackArbitrary = fc.constantFrom(0, 0, 0, 5, -1, -1)
const furtherSeriesArbitrary = fc.constantFrom(...series.slice(1))
const bySeriesArbitrary: fc.Arbitrary<HeldBySeries> = fc.record({
  furtherUnits: fc
    .uniqueArray(fc.tuple(furtherSeriesArbitrary, amountArbitrary), {
      selector: ([name]) => name,
    })
    .map((units) => new Map(units)),
  furtherCaps: fc.array(
    fc.record({
      series: fc.constantFrom(...series),
      cap: fc.oneof(
        fc.bigInt({ min: 0n, max: 200n }),
        fc.bigInt({ min: 2n ** 62n, max: 2n ** 66n }),
      ),
      within: fc.constantFrom(
        { windowId: window.id },
        { form: spec, fromBucket: usageBucket },
        { form: spec, fromBucket: usageBucket + 1 },
      ),
      elsewhere: fc.oneof(fc.constant(0n), amountArbitrary),
    }),
    { maxLength: 3 },
  ),
})
const placeArbitraries = {
  subject: fc.constantFrom(...subjects),
  /** The document that was read; null means the published one. */
  document: fc.constantFrom(null, null, null, ...documents),
  units: amountArbitrary,
  takes: fc.constantFrom('all' as const, 'rest' as const),
  replaces: fc.option(fc.constantFrom(...ids), { nil: undefined, freq: 1 }),
  keepsRest: fc.boolean(),
  cap: capArbitrary,
  counted: fc.subarray(subjects),
  used: fc.oneof(fc.constant(0n), amountArbitrary),
  /** Offsets at which other partitions were read; partitions that are missing were not read. */
  readAt: fc.uniqueArray(fc.tuple(fc.constantFrom(...otherPartitions), fc.nat(30)), {
    selector: ([otherPartition]) => otherPartition,
  }),
  slack: slackArbitrary,
  isReservedFirst: fc.boolean(),
  reservationsMax: fc.constantFrom(100, 100, 2),
  bySeries: fc.option(bySeriesArbitrary, { nil: undefined, freq: 2 }),
}
const stepArbitraries = {
  reserve: fc.record({
    kind: fc.constant('reserve' as const),
    id: fc.constantFrom(...ids),
    ...placeArbitraries,
    /** A request at the other subject. */
    together: fc.option(fc.record(placeArbitraries), { freq: 1 }),
    lapses: fc.constantFrom(false, false, false, true),
  }),
  batch: fc.record({
    kind: fc.constant('batch' as const),
    mode: fc.constantFrom('each' as const, 'all-or-none' as const),
    subject: fc.constantFrom(...subjects),
    requests: fc.array(
      fc.record({
        id: fc.constantFrom(...ids),
        ...placeArbitraries,
        together: fc.record(placeArbitraries),
      }),
      { minLength: 1, maxLength: 4 },
    ),
    isTogether: fc.boolean(),
  }),
  extend: fc.record({
    kind: fc.constant('extend' as const),
    id: fc.constantFrom(...ids),
    subjects: fc.subarray(subjects, { minLength: 1 }),
    ttlMs: fc.constantFrom(hourMs / 4, 3 * hourMs),
  }),
  read: fc.record({
    kind: fc.constant('read' as const),
    subject: fc.constantFrom(...subjects),
    slack: slackArbitrary,
    series: fc.constantFrom(...series),
  }),
  release: fc.record({
    kind: fc.constant('release' as const),
    id: fc.constantFrom(...ids),
    subjects: fc.subarray(subjects, { minLength: 1 }),
  }),
  apply: fc.record({
    kind: fc.constant('apply' as const),
    /** 0 follows the fence; other values are a replay, which must be refused. */
    shift: fc.constantFrom(0, 0, 0, -1),
    subject: fc.constantFrom(...subjects),
    series: fc.constantFrom(...series),
    amount: amountArbitrary,
    settled: settledArbitrary,
  }),
  publish: fc.record({
    kind: fc.constant('publish' as const),
    subject: fc.constantFrom(...subjects),
    document: fc.constantFrom(...documents),
  }),
  settle: fc.record({
    kind: fc.constant('settle' as const),
    countedIn: fc.record({
      partition: fc.constantFrom(...otherPartitions),
      nextOffset: fc.nat(30),
    }),
    settled: settledArbitrary,
  }),
  sweep: fc.record({
    kind: fc.constant('sweep' as const),
    /** Simulated time in the future. */
    aheadMs: fc.constantFrom(hourMs / 2, hourMs / 2, 2 * hourMs),
  }),
  lose: fc.record({ kind: fc.constant('lose' as const) }),
}
const stepArbitrary = fc.oneof(
  { weight: 8, arbitrary: stepArbitraries.reserve },
  { weight: 3, arbitrary: stepArbitraries.batch },
  { weight: 2, arbitrary: stepArbitraries.extend },
  { weight: 4, arbitrary: stepArbitraries.read },
  { weight: 2, arbitrary: stepArbitraries.release },
  { weight: 6, arbitrary: stepArbitraries.apply },
  { weight: 3, arbitrary: stepArbitraries.publish },
  { weight: 3, arbitrary: stepArbitraries.settle },
  { weight: 2, arbitrary: stepArbitraries.sweep },
  { weight: 1, arbitrary: stepArbitraries.lose },
)
type Step = typeof stepArbitrary extends fc.Arbitrary<infer S> ? S : never
type ReservePlace = Omit<Extract<Step, { kind: 'reserve' }>, 'kind' | 'id' | 'together' | 'lapses'>

/** Runs random steps on hot state and on a model, which must return the same answers. */
export function describeReservationsAgainstModel(under: () => HotStateUnderTest): void {
  it('reserves like a model that remembers every step', async () => {
    let round = 0
    await fc.assert(
      fc.asyncProperty(fc.array(stepArbitrary, { maxLength: 50, size: 'max' }), async (steps) => {
        round += 1
        const space = `reservations ${round}`
        const model = new ReservationsModel(usageBucket)
        for (const subject of subjects) {
          await publish({ subject, document: documents[0]! }, space, under().hot, model)
        }
        for (const step of steps) {
          if (step.kind === 'lose') {
            await under().lose()
            model.lose()
          } else {
            await take(step, space, under().hot, model)
          }
        }
      }),
      { numRuns: 100 },
    )
  }, 120_000)
}

type Published = { readonly subject: string; readonly document: string }

async function publish(
  { subject, document }: Published,
  space: string,
  hot: HotState,
  model: ReservationsModel,
): Promise<void> {
  const entry = { version: 1, document, windows: [window], buckets: [spec] }
  await hot.putEntry({ space, partition, subject, scope }, entry)
  model.documents.set(subject, document)
}

async function take(
  step: Exclude<Step, { kind: 'lose' }>,
  space: string,
  hot: HotState,
  model: ReservationsModel,
): Promise<void> {
  switch (step.kind) {
    case 'reserve':
      await reserve(step, space, hot, model)
      return
    case 'batch':
      await reserveBatch(step, space, hot, model)
      return
    case 'extend': {
      const [subject, other] = step.subjects
      const { id: reservationId, ttlMs } = step
      const at = { space, partition, subject: subject!, scope }
      const together = other === undefined ? undefined : { subject: other, scope }
      const outcome = await hot.extendReservation({
        ...{ at, reservationId, ttlMs, lifetimeMsMax: 2 * hourMs },
        ...(together && { together }),
      })
      const isHeld = model.isHeld(subject!, reservationId)
      expect(outcome.kind).toBe(!isHeld ? 'gone' : ttlMs > 2 * hourMs ? 'too-long' : 'extended')
      if (outcome.kind === 'extended') {
        expect(outcome.expiresAtMs).toBeGreaterThanOrEqual(Date.now() + ttlMs - 60_000)
        model.extend(step.subjects, reservationId, ttlMs)
      }
      return
    }
    case 'publish':
      await publish(step, space, hot, model)
      return
    case 'read': {
      const at = { space, partition, subject: step.subject, scope }
      const minOffset = Math.max(0, model.fence - step.slack)
      const query = { at, series: step.series, windowId: window.id, minOffset }
      expect(await hot.readTaken(query)).toEqual(model.readTaken(query))
      return
    }
    case 'release': {
      const [subject, other] = step.subjects
      const at = { space, partition, subject: subject!, scope }
      const together = other === undefined ? undefined : { subject: other, scope }
      const expected = model.release(step.subjects, step.id)
      expect(await hot.releaseReservation(at, step.id, together)).toBe(expected)
      return
    }
    case 'apply': {
      const { subject, amount, series } = step
      const expectedOffset = Math.max(0, model.fence + step.shift)
      const outcome = await hot.apply({
        space,
        partition,
        expectedOffset,
        nextOffset: expectedOffset + 1,
        marks: [],
        increments: [{ subject, scope, series, second: usageSecond, amount }],
        settled: step.settled.map((each) => ({ ...each, scope })),
      })
      expect(outcome).toBe(model.apply(expectedOffset, step, step.settled))
      return
    }
    case 'settle': {
      const { countedIn } = step
      const settled = step.settled.map((each) => ({ ...each, scope }))
      await hot.settleReservations({ space, partition, settled, countedIn })
      model.settleElsewhere(step.settled, countedIn)
      return
    }
    case 'sweep': {
      const reservationsExpiredBeforeMs = Date.now() + step.aheadMs
      const limits = { ...nothingExpired, reservationsExpiredBeforeMs }
      while ((await hot.sweep(space, partition, limits)) > 0);
      model.sweep(step.aheadMs)
    }
  }
}

function placeRequest(place: ReservePlace, space: string, model: ReservationsModel): PlaceRequest {
  return {
    at: { space, partition, subject: place.subject, scope },
    document: place.document ?? model.documents.get(place.subject),
    units: place.units,
    takes: place.bySeries === undefined ? place.takes : 'all',
    replaces: place.replaces,
    keepsRest: place.keepsRest,
    subjects: place.counted,
    series: 'calls',
    windowId: window.id,
    cap: place.cap,
    minOffset: Math.max(0, model.fence - place.slack),
    isReservedFirst: place.isReservedFirst,
    elsewhere: { amount: place.used, appliedOffsets: new Map(place.readAt) },
    reservationsMax: place.reservationsMax,
    ...(place.bySeries && { bySeries: place.bySeries }),
  }
}

async function reserveBatch(
  step: Extract<Step, { kind: 'batch' }>,
  space: string,
  hot: HotState,
  model: ReservationsModel,
): Promise<void> {
  const other = subjects.find((subject) => subject !== step.subject)!
  const [first] = step.requests
  // What a batch was based on is the same for all of its requests.
  const shared = ({ document, slack, isReservedFirst, readAt, counted }: ReservePlace) => {
    return { document, slack, isReservedFirst, readAt, counted }
  }
  const requests = step.requests.map((each): ReserveRequest => {
    const own = { ...each, ...shared(first!), subject: step.subject }
    const together = { ...each.together, ...shared(first!.together), subject: other }
    return {
      ...placeRequest(own, space, model),
      reservationId: each.id,
      ttlMs: hourMs,
      ...(step.isTogether && { together: placeRequest(together, space, model) }),
    }
  })
  const outcomes = await hot.reserveBatch(requests, step.mode)
  const expected = model.reserveBatch(requests, step.mode)
  if (outcomes === 'behind') {
    expect(outcomes).toEqual(expected)
    return
  }
  expect(outcomes.map(withoutExpiry)).toEqual(expected)
}

function withoutExpiry(outcome: ReserveOutcome): object {
  if (outcome.kind !== 'admitted') return outcome
  const { expiresAtMs: _ownClock, ...told } = outcome
  return told
}

async function reserve(
  step: Extract<Step, { kind: 'reserve' }>,
  space: string,
  hot: HotState,
  model: ReservationsModel,
): Promise<void> {
  const other = subjects.find((subject) => subject !== step.subject)!
  const request: ReserveRequest = {
    ...placeRequest(step, space, model),
    reservationId: step.id,
    ttlMs: step.lapses ? lapsingTtlMs : hourMs,
    ...(step.together && {
      together: placeRequest({ ...step.together, subject: other }, space, model),
    }),
  }
  const places = step.together === null ? [step.subject] : [step.subject, other]
  const known = places.filter((subject) => model.isHeldOrUsed(subject, step.id))
  const outcome = await hot.reserve(request)
  const expected = model.reserve(request)
  expect(withoutExpiry(outcome)).toEqual(expected)
  if (step.lapses) {
    await sleep(5)
    for (const subject of places) {
      if (!known.includes(subject)) model.expire(subject, step.id)
    }
  }
}
