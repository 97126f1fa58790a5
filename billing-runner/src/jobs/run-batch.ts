import { failClaim, finishClaims, type DueItem } from '@tollgate/domain/calendar/claims'
import { countBatch, type BatchCounts } from '@tollgate/domain/calendar/runs'
import type { Slot } from '@tollgate/domain/calendar/slots'
import type { Provider } from '@tollgate/domain/providers/repository'
import type { PublisherParts } from '@tollgate/domain/publishing/publisher-parts'
import type { PublicationTarget } from '@tollgate/domain/publications/repository'
import { forEachConcurrently } from '@tollgate/domain/postgres/for-each-concurrently'
import type { AskOutside } from '@tollgate/domain/unit-of-work/outside-question'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { Environment } from '@tollgate/schemas/environment'
import { createItemContext, publishCommitted } from './item-context.ts'
import type { ItemJob, ItemOutcome } from './job.ts'

export type BatchParts = {
  readonly publisher: PublisherParts
  /** Asks tax services of providers. Absent: an item that needs an answer fails. */
  readonly ask?: AskOutside | undefined
  readonly logger: Logger
  readonly limits: {
    readonly itemsInFlightMax: number
    readonly triesMax: number
    readonly retryPauseMs: number
  }
}

export type AttemptOutcome = ItemOutcome | 'failed'

export type SlotParts = BatchParts & {
  readonly limits: BatchParts['limits'] & {
    readonly batchItemsMax: number
    readonly claimLeaseMs: number
  }
}

/** Called after each batch with its outcomes and its duration in seconds. */
export type OnBatch = (outcomes: ReadonlyMap<AttemptOutcome, number>, seconds: number) => void

/** `waiting`: other runners still process items of the slot, or a failed item waits for its next attempt. */
export type SlotOutcome = 'ended' | 'waiting' | 'stopped'

type ItemResult = {
  readonly due: DueItem
  readonly outcome: AttemptOutcome
  /** Message of the error, if the item failed for the last time in this slot. */
  readonly failure: string | null
}

/**
 * Processes the claimed items. Each item commits by itself. Then their publications are published, their claims are settled, and
 * the batch is counted. After a crash in between, the claims expire; the runner that takes them over finds most items done.
 */
export async function runBatch(
  parts: BatchParts,
  environment: Environment,
  job: ItemJob,
  slot: Slot,
  items: readonly DueItem[],
): Promise<ReadonlyMap<AttemptOutcome, number>> {
  const { publisher, logger, limits } = parts
  const startedAt = publisher.now()
  const publications: PublicationTarget[] = []
  const tried: ItemResult[] = []
  const providers = new Map<string, Promise<Provider>>()
  await forEachConcurrently(items, limits.itemsInFlightMax, async (due) => {
    tried.push(await attemptItem(parts, environment, job, due, publications, providers))
  })
  await publishCommitted(publisher, logger, environment, publications)
  const pool = publisher.database.in(environment)
  const dueOf = (outcomes: readonly AttemptOutcome[]): DueItem[] =>
    tried.filter(({ outcome }) => outcomes.includes(outcome)).map(({ due }) => due)
  await finishClaims(pool, slot.job, dueOf(['done', 'nothing']), dueOf(['postponed']))
  await countBatch(pool, slot, startedAt, publisher.now(), countByProvider(tried))
  return countOutcomes(tried)
}

async function attemptItem(
  parts: BatchParts,
  environment: Environment,
  job: ItemJob,
  due: DueItem,
  publications: PublicationTarget[],
  providers: Map<string, Promise<Provider>>,
): Promise<ItemResult> {
  const { publisher, logger, limits, ask } = parts
  const { providerId, item } = due
  const context = createItemContext(
    { ...publisher, ask },
    { environment, providerId, job: job.name, now: publisher.now() },
    { publications, providers },
  )
  try {
    return { due, outcome: await job.perform(context, item), failure: null }
  } catch (error) {
    // If the database is unavailable, this throws and ends the batch. The failure does not count against the item.
    const pool = publisher.database.in(environment)
    const failures = await failClaim(pool, job.name, due, {
      pauseMs: limits.retryPauseMs,
      triesMax: limits.triesMax,
    })
    const isLast = failures >= limits.triesMax
    logger.error(
      { err: error, environment, job: job.name, providerId, item, failures },
      'an item failed; it is retried after a pause',
    )
    return { due, outcome: 'failed', failure: isLast ? messageOf(error) : null }
  }
}

/** Counts outcomes per provider. Failures are counted only when the item has no attempts left in this slot. */
function countByProvider(tried: readonly ItemResult[]): BatchCounts[] {
  const counts = new Map<string, BatchCounts>()
  for (const { due, outcome, failure } of tried) {
    const { providerId } = due
    const before = counts.get(providerId) ?? emptyCounts(providerId)
    if (outcome === 'done') counts.set(providerId, { ...before, done: before.done + 1 })
    if (outcome === 'postponed') {
      counts.set(providerId, { ...before, postponed: before.postponed + 1 })
    }
    if (failure !== null) counts.set(providerId, { ...before, failed: before.failed + 1, failure })
  }
  return [...counts.values()]
}

function emptyCounts(providerId: string): BatchCounts {
  return { providerId, done: 0, postponed: 0, failed: 0, failure: null }
}

function countOutcomes(tried: readonly ItemResult[]): ReadonlyMap<AttemptOutcome, number> {
  const totals = new Map<AttemptOutcome, number>()
  for (const { outcome } of tried) totals.set(outcome, (totals.get(outcome) ?? 0) + 1)
  return totals
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
