import { findProvider, type Provider } from '@tollgate/domain/providers/repository'
import { publishTogether } from '@tollgate/domain/publishing/publisher'
import type { PublisherParts } from '@tollgate/domain/publishing/publisher-parts'
import type { PublicationTarget } from '@tollgate/domain/publications/repository'
import type { AnsweredParts } from '@tollgate/domain/unit-of-work/read-answered'
import { jobOperation } from '@tollgate/domain/unit-of-work/job-operation'
import { runUnitOfWork } from '@tollgate/domain/unit-of-work/run-unit-of-work'
import type { ProviderDatabases } from '@tollgate/platform/database/database'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { Environment } from '@tollgate/schemas/environment'
import type { ItemContext } from './job.ts'

/** State that all items of a batch use together. */
export type BatchState = {
  /** Collects what the items queue. */
  readonly publications: PublicationTarget[]
  /** Providers that were read already. */
  readonly providers: Map<string, Promise<Provider>>
}

type ItemOrigin = Pick<ItemContext, 'environment' | 'providerId' | 'now'> & { readonly job: string }

/** Creates the context in which a job processes one item at `now`. */
export function createItemContext(
  { database, ask }: AnsweredParts,
  { environment, providerId, job, now }: ItemOrigin,
  { publications, providers }: BatchState,
): ItemContext {
  return {
    environment,
    providerId,
    now,
    readProvider: () => {
      const read = providers.get(providerId) ?? readProvider(database, providerId)
      providers.set(providerId, read)
      return read
    },
    commit: async (body) => {
      const operation = jobOperation(job, { providerId, environment }, now)
      const committed = await runUnitOfWork(database, operation, body, ask)
      publications.push(...committed.publications)
      return committed.result
    },
  }
}

async function readProvider(database: ProviderDatabases, providerId: string): Promise<Provider> {
  const { control } = database.of(providerId)
  const provider = await control.read((sql) => findProvider(sql, providerId))
  if (provider === undefined) throw new Error(`there is no provider ${providerId}`)
  return provider
}

/** Publishes what a batch committed. If hot state is unavailable, the control plane publishes it later. */
export async function publishCommitted(
  publisher: PublisherParts,
  logger: Logger,
  environment: Environment,
  publications: readonly PublicationTarget[],
): Promise<void> {
  try {
    await publishTogether(publisher, environment, publications)
  } catch (error) {
    logger.error({ err: error, environment }, 'committed, but not published yet')
  }
}
