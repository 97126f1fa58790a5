import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PublicationSpace } from '@tollgate/domain/publications/repository'
import type { HealthCheck } from '@tollgate/platform/service/health'
import type { Service } from '@tollgate/platform/service/service'
import type { JobMetrics } from '../metrics.ts'
import type { Schedule } from '../schedule/schedule.ts'
import type { Job } from './job.ts'
import type { ScheduledJob } from './job-catalogue.ts'
import type { SlotParts } from './run-batch.ts'
import { processSlot } from './process-slot.ts'

export type SchedulingParts = SlotParts & {
  readonly metrics: JobMetrics
  readonly lookIntervalMs: number
  readonly stuckAfterMs: number
}

/** Runs jobs on their schedules. The health check fails if a job makes no progress. */
export type Scheduling = Service & { readonly health: HealthCheck }

/**
 * Runs each job in each of its spaces in a loop of its own, so that a long job does not delay the others. Only the latest slot of a
 * schedule is processed: a job processes everything that is due, so the latest slot includes missed ones.
 */
export function createScheduling(
  parts: SchedulingParts,
  jobs: readonly ScheduledJob[],
): Scheduling {
  const stopping = new AbortController()
  // Each loop adds a listener.
  setMaxListeners(0, stopping.signal)
  const loops: { readonly state: LoopState; readonly done: Promise<void> }[] = []
  return {
    health: {
      name: 'schedule',
      check: async () => requireProgress(loops.map(({ state }) => state)),
    },
    start: async () => {
      for (const { job, schedule, spaces } of jobs) {
        if (schedule === undefined) continue
        for (const space of spaces) {
          const state: LoopState = { name: `${job.name} ${space}`, openSinceMs: undefined, parts }
          loops.push({ state, done: loop(parts, job, schedule, space, stopping.signal, state) })
        }
      }
    },
    stop: async () => {
      stopping.abort()
      await Promise.all(loops.map(({ done }) => done))
    },
  }
}

type LoopState = {
  readonly name: string
  readonly parts: SchedulingParts
  /** Start of the current slot or end of its last batch, in milliseconds of the monotonic clock. Undefined if no slot is open. */
  openSinceMs: number | undefined
}

async function loop(
  parts: SchedulingParts,
  job: Job,
  schedule: Schedule,
  space: PublicationSpace,
  stopping: AbortSignal,
  state: LoopState,
): Promise<void> {
  const labels = { job: job.name, space }
  let endedAtMs: number | undefined
  while (!stopping.aborted) {
    const slot = schedule.latestSlot(parts.publisher.now())
    if (slot.getTime() !== endedAtMs) {
      state.openSinceMs ??= performance.now()
      const when = { at: slot, isByHand: false }
      try {
        const outcome = await processSlot(
          parts,
          job,
          space,
          when,
          stopping,
          (outcomes, seconds) => {
            state.openSinceMs = performance.now()
            parts.metrics.batchSeconds.observe(labels, seconds)
            for (const [name, count] of outcomes) {
              parts.metrics.items.inc({ ...labels, outcome: name }, count)
            }
          },
        )
        if (outcome === 'ended') endedAtMs = slot.getTime()
      } catch (error) {
        parts.metrics.failures.inc(labels)
        parts.logger.error({ err: error, ...labels, slot }, 'a run failed and is retried')
      }
    }
    const isDone = slot.getTime() === endedAtMs
    if (isDone) state.openSinceMs = undefined
    const lagMs = isDone ? 0 : parts.publisher.now().getTime() - slot.getTime()
    parts.metrics.lagSeconds.set(labels, lagMs / 1_000)
    await sleep(parts.lookIntervalMs, undefined, { signal: stopping }).catch(() => undefined)
  }
}

/** Throws an error with the names of the jobs that have an open slot and make no progress. */
async function requireProgress(states: readonly LoopState[]): Promise<void> {
  const stuck = states.filter(
    ({ openSinceMs, parts }) =>
      openSinceMs !== undefined && performance.now() - openSinceMs > parts.stuckAfterMs,
  )
  if (stuck.length > 0) {
    throw new Error(`no progress in ${stuck.map(({ name }) => name).join(', ')}`)
  }
}
