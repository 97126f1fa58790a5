import type { DueItem } from '@tollgate/domain/calendar/claims'
import type { DueItems } from '@tollgate/domain/calendar/due-items'
import type { PublicationSpace } from '@tollgate/domain/publications/repository'
import type { Provider } from '@tollgate/domain/providers/repository'
import type { UnitOfWork } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { Queryable } from '@tollgate/platform/database/database'
import type { Environment } from '@tollgate/schemas/environment'

/**
 * `postponed`: the item is due but cannot be processed yet; the next run of the job tries again. `nothing`: the item is no longer
 * due.
 */
export type ItemOutcome = 'done' | 'postponed' | 'nothing'

/** The context in which a runner processes one item. */
export type ItemContext = {
  readonly environment: Environment
  readonly providerId: string
  readonly now: Date
  /** Reads the provider, which is stored in the control schema and not in the environment. */
  readProvider(): Promise<Provider>
  /** Runs one transaction as the job. Publications that it queues are published after the batch. */
  commit<Result>(body: (work: UnitOfWork) => Promise<Result>): Promise<Result>
}

/** A job that processes purchases or sessions one by one, many concurrently, shared by all runners. */
export type ItemJob = {
  readonly kind: 'items'
  readonly name: string
  readonly due: DueItems
  /** Processes one item. After a crash at any point it is repeated from the beginning, and must not have an effect twice. */
  perform(context: ItemContext, item: string): Promise<ItemOutcome>
  /** Describes in a few words what `perform` would do now. */
  explain(sql: Queryable, due: DueItem, now: Date): Promise<string>
}

/** A job that deletes expired rows in one or more of the schemas. */
export type SweepJob = {
  readonly kind: 'sweep'
  readonly name: string
  readonly spaces: readonly PublicationSpace[]
  /** Deletes some rows. Returns true if more may be left. */
  sweep(pool: Queryable, space: PublicationSpace, now: Date): Promise<boolean>
}

/** A job with one piece of work for a whole environment: one runner does it while the others wait for its end. */
export type WholeJob = {
  readonly kind: 'whole'
  readonly name: string
  /** Does the work. After a crash it starts from the beginning. Throws soon after `stopping` is aborted. */
  perform(environment: Environment, stopping: AbortSignal): Promise<void>
  /** Called in each runner when it finds that the work of a slot is done, by any runner. */
  ended(environment: Environment): Promise<void>
}

export type Job = ItemJob | SweepJob | WholeJob
