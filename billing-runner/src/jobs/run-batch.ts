import { failClaim, settleClaims, type DueItem } from '@tollgate/domain/calendar/claims'
import { countBatch, type BatchCounts } from '@tollgate/domain/calendar/runs'
import type { Slot } from '@tollgate/domain/calendar/slots'
import { findProvider, type Provider } from '@tollgate/domain/providers/repository'
import { publishTogether } from '@tollgate/domain/publishing/publisher'
import type { PublisherParts } from '@tollgate/domain/publishing/publisher-parts'
import type { PublicationTarget } from '@tollgate/domain/publications/repository'
import { workOff } from '@tollgate/domain/postgres/work-off'
import { jobOperation } from '@tollgate/domain/unit-of-work/job-operation'
import { runUnitOfWork } from '@tollgate/domain/unit-of-work/run-unit-of-work'
import type { ProviderDatabases } from '@tollgate/platform/database/database'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { Environment } from '@tollgate/schemas/environment'
import type { ItemJob, ItemOutcome, Turn } from './job.ts'

export type BatchParts = {
  readonly publisher: PublisherParts
  readonly logger: Logger
  readonly limits: {
    readonly itemsInFlightMax: number
    readonly triesMax: number
    readonly retryPauseMs: number
  }
}

export type TriedOutcome = ItemOutcome | 'failed'

type Tried = {
  readonly due: DueItem
  readonly outcome: TriedOutcome
  /** Of what failed for the last time in this slot. */
  readonly failure: string | null
}

/**
 * Works off what was claimed. Each item commits by itself; then what they left to publish is published, their claims
 * are settled, and the batch is counted. A crash anywhere in between leaves claims that run out: whoever takes them over
 * finds most of it done.
 */
export async function runBatch(
  parts: BatchParts,
  environment: Environment,
  job: ItemJob,
  slot: Slot,
  items: readonly DueItem[],
): Promise<ReadonlyMap<TriedOutcome, number>> {
  const { publisher, limits } = parts
  const startedAt = publisher.now()
  const publications: PublicationTarget[] = []
  const tried: Tried[] = []
  const providers = new Map<string, Promise<Provider>>()
  await workOff(items, limits.itemsInFlightMax, async (due) => {
    tried.push(await tryItem(parts, environment, job, due, publications, providers))
  })
  await publishWhatIsLeft(parts, environment, publications)
  const pool = publisher.database.in(environment)
  const dueOf = (outcomes: readonly TriedOutcome[]): DueItem[] =>
    tried.filter(({ outcome }) => outcomes.includes(outcome)).map(({ due }) => due)
  await settleClaims(pool, slot.job, dueOf(['done', 'nothing']), dueOf(['postponed']))
  await countBatch(pool, slot, startedAt, publisher.now(), countsOf(tried))
  return tally(tried)
}

async function tryItem(
  { publisher, logger, limits }: BatchParts,
  environment: Environment,
  job: ItemJob,
  due: DueItem,
  publications: PublicationTarget[],
  providers: Map<string, Promise<Provider>>,
): Promise<Tried> {
  const { providerId, item } = due
  const now = publisher.now()
  const turn: Turn = {
    environment,
    providerId,
    now,
    readProvider: () => {
      const read = providers.get(providerId) ?? readProvider(publisher.database, providerId)
      providers.set(providerId, read)
      return read
    },
    commit: async (body) => {
      const operation = jobOperation(job.name, { providerId, environment }, now)
      const committed = await runUnitOfWork(publisher.database, operation, body)
      publications.push(...committed.publications)
      return committed.result
    },
  }
  try {
    return { due, outcome: await job.perform(turn, item), failure: null }
  } catch (error) {
    // Where the database is away this fails as well, which ends the batch: that is no failure of the item.
    const pool = publisher.database.in(environment)
    const failures = await failClaim(pool, job.name, due, {
      pauseMs: limits.retryPauseMs,
      triesMax: limits.triesMax,
    })
    const isLast = failures >= limits.triesMax
    logger.error(
      { err: error, environment, job: job.name, providerId, item, failures },
      'a try failed',
    )
    return { due, outcome: 'failed', failure: isLast ? messageOf(error) : null }
  }
}

async function readProvider(database: ProviderDatabases, providerId: string): Promise<Provider> {
  const { control } = database.of(providerId)
  const provider = await control.read((sql) => findProvider(sql, providerId))
  if (provider === undefined) throw new Error(`there is no provider ${providerId}`)
  return provider
}

/** Where the hot state does not answer, the control plane publishes it when it does. */
async function publishWhatIsLeft(
  { publisher, logger }: BatchParts,
  environment: Environment,
  publications: readonly PublicationTarget[],
): Promise<void> {
  try {
    await publishTogether(publisher, environment, publications)
  } catch (error) {
    logger.error({ err: error, environment }, 'committed, but not published yet')
  }
}

/** What each provider is told of the batch: of failures only those that are given up. */
function countsOf(tried: readonly Tried[]): BatchCounts[] {
  const counts = new Map<string, BatchCounts>()
  for (const { due, outcome, failure } of tried) {
    const { providerId } = due
    const before = counts.get(providerId) ?? nothingYet(providerId)
    if (outcome === 'done') counts.set(providerId, { ...before, done: before.done + 1 })
    if (outcome === 'postponed') {
      counts.set(providerId, { ...before, postponed: before.postponed + 1 })
    }
    if (failure !== null) counts.set(providerId, { ...before, failed: before.failed + 1, failure })
  }
  return [...counts.values()]
}

function nothingYet(providerId: string): BatchCounts {
  return { providerId, done: 0, postponed: 0, failed: 0, failure: null }
}

function tally(tried: readonly Tried[]): ReadonlyMap<TriedOutcome, number> {
  const totals = new Map<TriedOutcome, number>()
  for (const { outcome } of tried) totals.set(outcome, (totals.get(outcome) ?? 0) + 1)
  return totals
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
