import {
  testClockAdvanceMsMax,
  testClockAheadMsMax,
  testClockAheadMsMin,
  testClocksMax,
} from '@tollgate/schemas/limits'
import { generateReference } from '../unit-of-work/generate-reference.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { queueCustomersOfClock } from './queue-customers.ts'
import {
  insertTestClock,
  lockAndCountTestClocks,
  lockTestClock,
  updateTestClock,
} from './repository.ts'
import type { TestClock } from './test-clock.ts'

export type NewTestClock = { readonly name: string | null; readonly frozenTime: Date }

export type CreateClockOutcome =
  | { readonly kind: 'clock'; readonly clock: TestClock }
  /** The time is not far enough ahead of real time, or too far. */
  | { readonly kind: 'time-refused'; readonly earliest: Date; readonly latest: Date }
  | { readonly kind: 'too-many' }

/**
 * Creates a clock that stands at `frozenTime`. Clocks are ahead of real time for as long as they exist: data that is kept for some
 * time, such as counters, would otherwise be deleted before its customers need it no longer.
 */
export async function createTestClock(
  { sql, providerId, now }: UnitOfWork,
  { name, frozenTime }: NewTestClock,
  lifetimeMs: number,
): Promise<CreateClockOutcome> {
  const earliest = new Date(now.getTime() + testClockAheadMsMin)
  const latest = new Date(now.getTime() + testClockAheadMsMax)
  if (frozenTime < earliest || frozenTime > latest)
    return { kind: 'time-refused', earliest, latest }
  if ((await lockAndCountTestClocks(sql, providerId)) >= testClocksMax) return { kind: 'too-many' }
  const clock: TestClock = {
    reference: generateReference('testClock'),
    name,
    status: 'ready',
    timeReached: frozenTime,
    processedTo: frozenTime,
    advanceFrom: null,
    advanceTo: null,
    failure: null,
    isDeleting: false,
    createdAt: now,
    updatedAt: now,
    expiresAt: new Date(now.getTime() + lifetimeMs),
  }
  await insertTestClock(sql, providerId, clock)
  return { kind: 'clock', clock }
}

export type ChangeClockOutcome =
  | { readonly kind: 'clock'; readonly clock: TestClock }
  | { readonly kind: 'not-found' }
  /** The clock is in another state. */
  | { readonly kind: 'not-now'; readonly clock: TestClock }
  | { readonly kind: 'time-refused'; readonly earliest: Date; readonly latest: Date }

/** Requests that a runner advances the clock. Requested again with the same end, it changes nothing, or tries again what failed. */
export async function advanceTestClock(
  work: UnitOfWork,
  reference: string,
  to: Date,
): Promise<ChangeClockOutcome> {
  const clock = await lockTestClock(work.sql, work.providerId, reference)
  if (clock === undefined) return { kind: 'not-found' }
  const isRunning = clock.status === 'advancing' || clock.status === 'paused'
  if (isRunning) {
    const isSame = clock.status === 'advancing' && clock.advanceTo?.getTime() === to.getTime()
    return isSame ? { kind: 'clock', clock } : { kind: 'not-now', clock }
  }
  const latest = new Date(
    Math.min(
      clock.timeReached.getTime() + testClockAdvanceMsMax,
      work.now.getTime() + testClockAheadMsMax,
    ),
  )
  if (to < clock.timeReached || to > latest) {
    return { kind: 'time-refused', earliest: clock.timeReached, latest }
  }
  const advanceFrom = clock.timeReached
  return change(work, clock, { status: 'advancing', advanceFrom, advanceTo: to, failure: null })
}

/** Pauses an advance at the instant that is processed now. Nothing is left half done. */
export async function pauseTestClock(
  work: UnitOfWork,
  reference: string,
): Promise<ChangeClockOutcome> {
  const clock = await lockTestClock(work.sql, work.providerId, reference)
  if (clock === undefined) return { kind: 'not-found' }
  if (clock.status === 'paused') return { kind: 'clock', clock }
  if (clock.status !== 'advancing') return { kind: 'not-now', clock }
  const name = { providerId: work.providerId, reference }
  work.publications.push(...(await queueCustomersOfClock(work.sql, name)))
  return change(work, clock, { status: 'paused' })
}

/** Continues an advance that was paused or has failed, unless the clock is being deleted. */
export async function resumeTestClock(
  work: UnitOfWork,
  reference: string,
): Promise<ChangeClockOutcome> {
  const clock = await lockTestClock(work.sql, work.providerId, reference)
  if (clock === undefined) return { kind: 'not-found' }
  if (clock.status === 'advancing') return { kind: 'clock', clock }
  if (clock.status === 'ready' || clock.isDeleting) return { kind: 'not-now', clock }
  // A deletion that was given up leaves a paused clock, which may never have been advanced.
  const status = clock.advanceTo === null ? 'ready' : 'advancing'
  return change(work, clock, { status, failure: null })
}

async function change(
  { sql, providerId, now }: UnitOfWork,
  clock: TestClock,
  fields: Partial<TestClock>,
): Promise<ChangeClockOutcome> {
  const changed = { ...clock, ...fields, updatedAt: now }
  await updateTestClock(sql, providerId, changed)
  return { kind: 'clock', clock: changed }
}
