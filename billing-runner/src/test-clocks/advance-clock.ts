import { setTimeout as sleep } from 'node:timers/promises'
import { jobActor, setActor } from '@tollgate/domain/audit/actor'
import {
  listDueOfClock,
  readJobInstants,
  type CustomerItem,
} from '@tollgate/domain/calendar/clock-items'
import type { DueItem } from '@tollgate/domain/calendar/claims'
import { UsageBehindError } from '@tollgate/domain/entitlements/usage-behind-error'
import { forEachConcurrently } from '@tollgate/domain/postgres/for-each-concurrently'
import type { PublicationTarget } from '@tollgate/domain/publications/repository'
import { queueCustomersOfClock } from '@tollgate/domain/test-clocks/queue-customers'
import {
  endAdvance,
  moveClock,
  releaseClock,
  renewClockLease,
  type AdvancingClock,
} from '@tollgate/domain/test-clocks/advance-lease'
import { publishTogether } from '@tollgate/domain/publishing/publisher'
import type { PublisherParts } from '@tollgate/domain/publishing/publisher-parts'
import type { AskOutside } from '@tollgate/domain/unit-of-work/outside-question'
import type { Logger } from '@tollgate/platform/observability/logger'
import { createItemContext, publishCommitted, type BatchState } from '../jobs/item-context.ts'
import type { ItemJob } from '../jobs/job.ts'
import { messageOf, type AttemptOutcome } from '../jobs/run-batch.ts'
import { nextStop, type Pause, type Timed } from './next-stop.ts'
import type { SettlePayments } from './settle-payments.ts'

/** A job of real time, with the schedule by which it runs on clocks. */
export type ClockJob = ItemJob & Timed

export type AdvanceLimits = {
  readonly itemsInFlightMax: number
  readonly triesMax: number
  /** Milliseconds for which the lease of a clock is valid without renewal. */
  readonly claimLeaseMs: number
  /** Milliseconds for which an item waits until usage is stored, before its clock fails. */
  readonly testClockWaitMs: number
}

export type AdvanceParts = {
  readonly settlePayments: SettlePayments
  readonly publisher: PublisherParts
  /** Asks tax services of providers. Absent: an item that needs an answer fails. */
  readonly ask?: AskOutside | undefined
  readonly logger: Logger
  readonly limits: AdvanceLimits
}

/** Clocks exist only in the sandbox. */
const environment = 'sandbox'

/** Real pause before an item is tried again, in milliseconds. */
const retryPauseMs = 500

/** Items that wait for something are tried again after this time of the clock, doubled each time that nothing was done. */
const waitMs = { first: 60_000, longest: 86_400_000 }

/**
 * Moves a clock from one instant at which something is due to the next, and runs the jobs of real time there.
 *
 * Order at each stop: the time of the clock is committed; the customers with something due are published with it; the jobs process
 * the items that are due, each in transactions of its own; the next move commits that the stop is done. After a crash before that,
 * another runner stops at the same instant again and finds most items done. At the end the time is committed with the publications of
 * the customers, then the customers are published, and then the clock becomes `ready`. A client that reads `ready` therefore gets
 * limit checks with the new time. After a crash before `ready`, another runner publishes the customers again.
 *
 * A runner that was paused or lost its clock stops before its next move. Until then, it and its successor may process the same
 * item: the lock of the item lets one of them find it done.
 */
export async function advanceClock(
  parts: AdvanceParts,
  jobs: readonly ClockJob[],
  claimed: AdvancingClock,
  stopping: AbortSignal,
): Promise<void> {
  const { publisher, limits } = parts
  const pool = publisher.database.in(environment)
  const renewing = setInterval(() => {
    // If the renewal fails, another runner repeats the work of the stop, which is harmless.
    renewClockLease(pool, claimed, limits.claimLeaseMs).catch(() => undefined)
  }, limits.claimLeaseMs / 3)
  try {
    await moveToEnd(parts, jobs, claimed, stopping)
  } finally {
    clearInterval(renewing)
  }
}

async function moveToEnd(
  parts: AdvanceParts,
  jobs: readonly ClockJob[],
  claimed: AdvancingClock,
  stopping: AbortSignal,
): Promise<void> {
  const { publisher, limits } = parts
  const { advanceTo } = claimed
  const pool = publisher.database.in(environment)
  let { timeReached, processedTo } = claimed
  // A crash loses the pauses. A job that waits then runs earlier than needed, which is harmless.
  let pauses: ReadonlyMap<string, Pause> = new Map()
  await parts.settlePayments(claimed, timeReached)
  for (;;) {
    if (stopping.aborted) return releaseClock(pool, claimed)
    const until = { processedTo, until: advanceTo }
    const instants = await readJobInstants(pool, claimed, jobs, until)
    const stop = nextStop(jobs, instants, { timeReached, processedTo, advanceTo }, pauses)
    if (stop === undefined) return arrive(parts, claimed)
    timeReached = stop.at
    const moved = { timeReached, processedTo }
    const isOurs = await moveClock(pool, claimed, moved, publisher.now(), limits.claimLeaseMs)
    if (!isOurs) return
    const result = await runStop(parts, stop.jobs, claimed, timeReached, stopping)
    if (result.kind === 'stopped') return releaseClock(pool, claimed)
    if (result.kind === 'failed') return fail(parts, claimed, result.failure)
    pauses = result.isAnyDone ? new Map() : pausedAgain(pauses, stop.jobs, timeReached)
    processedTo = timeReached
  }
}

/** Returns the pauses after a stop at which these jobs did nothing. */
function pausedAgain(
  pauses: ReadonlyMap<string, Pause>,
  jobs: readonly ClockJob[],
  at: Date,
): ReadonlyMap<string, Pause> {
  const next = new Map(pauses)
  for (const { name } of jobs) {
    const ms = Math.min(Math.max(waitMs.first, 2 * (pauses.get(name)?.ms ?? 0)), waitMs.longest)
    next.set(name, { ms, until: new Date(at.getTime() + ms) })
  }
  return next
}

type StopResult =
  | { readonly kind: 'done'; readonly isAnyDone: boolean }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'failed'; readonly failure: string }

async function runStop(
  parts: AdvanceParts,
  jobs: readonly ClockJob[],
  clock: AdvancingClock,
  now: Date,
  stopping: AbortSignal,
): Promise<StopResult> {
  const { publisher, logger, limits } = parts
  const pool = publisher.database.in(environment)
  const publications: PublicationTarget[] = []
  const batch: BatchState = { publications, providers: new Map() }
  const outcomes: AttemptOutcome[] = []
  const published = new Set<string>()
  let failure: string | undefined
  for (const job of jobs) {
    // Processing an item can make another item due at the same time: a plan that begins is billed at once. The job repeats until
    // nothing new is due, as it does in real time.
    const left = new Set<string>()
    while (failure === undefined && !stopping.aborted) {
      const due = await listDueOfClock(pool, clock, job.due.select, now)
      const items = due.filter(({ item }) => !left.has(item))
      if (items.length === 0) break
      await publishTimeOf(publisher, clock, items, published)
      await forEachConcurrently(items, limits.itemsInFlightMax, async (each) => {
        if (failure !== undefined || stopping.aborted) return
        const result = await performItem(parts, job, each, now, batch, stopping)
        outcomes.push(result.outcome)
        if (result.outcome !== 'done') left.add(each.item)
        if (result.outcome === 'failed') failure ??= result.failure
      })
    }
    if (failure !== undefined || stopping.aborted) break
  }
  await publishCommitted(publisher, logger, environment, publications)
  if (failure !== undefined) return { kind: 'failed', failure }
  if (stopping.aborted) return { kind: 'stopped' }
  const isAnyDone = outcomes.includes('done')
  if (isAnyDone) await parts.settlePayments(clock, now)
  return { kind: 'done', isAnyDone }
}

/**
 * Publishes the time of the clock to the customers of these items, unless `published` has them. Until then their usage is dated, and
 * accepted, by an earlier time, at which a period may be open that a job closes now: such usage would never be billed. Usage that was
 * accepted before is in the log, and billing waits until it is stored. As in real time, usage that the client dates weeks back
 * and that is accepted in the very milliseconds in which its period closes may be missed.
 *
 * Throws if hot state does not answer, like `publishAndEnd`.
 */
async function publishTimeOf(
  publisher: PublisherParts,
  { providerId }: AdvancingClock,
  items: readonly CustomerItem[],
  published: Set<string>,
): Promise<void> {
  const late = new Set(items.map(({ customerRef }) => customerRef))
  for (const customerRef of published) late.delete(customerRef)
  const targets = [...late].map((target) => ({ kind: 'customer' as const, providerId, target }))
  await publishTogether(publisher, environment, targets, 'always')
  for (const customerRef of late) published.add(customerRef)
}

type ItemResult =
  | { readonly outcome: Exclude<AttemptOutcome, 'failed'> }
  | { readonly outcome: 'failed'; readonly failure: string }

/**
 * Processes an item at the time of the clock. A failure is repeated a few times, as in real time. While the usage store is behind,
 * the item waits: a bill must not leave usage out because its clock is fast.
 */
async function performItem(
  { publisher, logger, limits, ask }: AdvanceParts,
  job: ClockJob,
  { providerId, item }: DueItem,
  now: Date,
  batch: BatchState,
  stopping: AbortSignal,
): Promise<ItemResult> {
  const context = createItemContext(
    { ...publisher, ask },
    { environment, providerId, job: job.name, now },
    batch,
  )
  const waitsUntilMs = performance.now() + limits.testClockWaitMs
  for (let tries = 1; ;) {
    try {
      return { outcome: await job.perform(context, item) }
    } catch (error) {
      const isBehind = error instanceof UsageBehindError && performance.now() < waitsUntilMs
      if (!isBehind) {
        logger.error({ err: error, job: job.name, providerId, item }, 'an item of a clock failed')
        if (tries >= limits.triesMax) {
          return { outcome: 'failed', failure: `${job.name} of ${item}: ${messageOf(error)}` }
        }
        tries += 1
      }
      if (stopping.aborted) return { outcome: 'postponed' }
      await sleep(retryPauseMs, undefined, { signal: stopping }).catch(() => undefined)
    }
  }
}

/** Moves the clock to the end of its advance. See `advanceClock` for the order. */
async function arrive(parts: AdvanceParts, clock: AdvancingClock): Promise<void> {
  const { publisher, limits } = parts
  const { advanceTo: end } = clock
  const moved = { timeReached: end, processedTo: end }
  const queued = await publisher.database.in(environment).begin(async (sql) => {
    const isOurs = await moveClock(sql, clock, moved, publisher.now(), limits.claimLeaseMs)
    return isOurs ? await queueCustomersOfClock(sql, clock) : undefined
  })
  if (queued !== undefined) await publishAndEnd(parts, clock, queued, null)
}

async function fail(parts: AdvanceParts, clock: AdvancingClock, failure: string): Promise<void> {
  const pool = parts.publisher.database.in(environment)
  const queued = await pool.begin((sql) => queueCustomersOfClock(sql, clock))
  await publishAndEnd(parts, clock, queued, failure)
}

/** Throws if hot state does not answer. The clock is then still advancing, and another attempt follows when its lease expires. */
async function publishAndEnd(
  { publisher }: AdvanceParts,
  clock: AdvancingClock,
  queued: readonly PublicationTarget[],
  failure: string | null,
): Promise<void> {
  await publishTogether(publisher, environment, queued)
  await publisher.database.in(environment).begin(async (sql) => {
    setActor(sql, jobActor('test-clocks'))
    await endAdvance(sql, clock, failure, publisher.now())
  })
}
