import type { DueItem, SelectDue } from '@tollgate/domain/calendar/claims'
import type { PublicationSpace } from '@tollgate/domain/publications/repository'
import type { Provider } from '@tollgate/domain/providers/repository'
import type { UnitOfWork } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { Queryable } from '@tollgate/platform/database/database'
import type { Environment } from '@tollgate/schemas/environment'

/** `postponed`: is due and cannot be done yet; the job's next run looks again. `nothing`: was not due any more. */
export type ItemOutcome = 'done' | 'postponed' | 'nothing'

/** One item in the hands of a runner. */
export type Turn = {
  readonly environment: Environment
  readonly providerId: string
  readonly now: Date
  /** Who sells; not kept in the environment. */
  readProvider(): Promise<Provider>
  /** One transaction in the name of the job. What it queues is published soon after. */
  commit<Result>(body: (work: UnitOfWork) => Promise<Result>): Promise<Result>
}

/** Sees to purchases or sessions, each by itself, many at a time, shared by all runners. */
export type ItemJob = {
  readonly kind: 'items'
  readonly name: string
  readonly selectDue: SelectDue
  /** Must be harmless to do again, and from the start, wherever it was cut off. */
  perform(turn: Turn, item: string): Promise<ItemOutcome>
  /** What `perform` would do now, in a few words. */
  explain(sql: Queryable, due: DueItem, now: Date): Promise<string>
}

/** Deletes what has had its time, in one or more of the schemas. */
export type SweepJob = {
  readonly kind: 'sweep'
  readonly name: string
  readonly spaces: readonly PublicationSpace[]
  /** Deletes some of it; true: there may be more. */
  sweep(pool: Queryable, space: PublicationSpace, now: Date): Promise<boolean>
}

/** One piece of work for a whole environment: one runner does it, the others wait for its end. */
export type WholeJob = {
  readonly kind: 'whole'
  readonly name: string
  /** Must be harmless to begin again from the start. Throws soon after `stopping` is aborted. */
  perform(environment: Environment, stopping: AbortSignal): Promise<void>
  /** Of each runner, when it finds that the work of a slot is done, by whomever. */
  ended(environment: Environment): Promise<void>
}

export type Job = ItemJob | SweepJob | WholeJob
