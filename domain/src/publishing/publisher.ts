import { environments, type Environment } from '@tollgate/schemas/environment'
import { publishedKinds } from '@tollgate/schemas/hot-state/publications'
import type { Sql } from 'postgres'
import { publishApiKeys } from './publish-api-keys.ts'
import { publishCustomers } from './publish-customers.ts'
import { publishMeters } from './publish-meters.ts'
import { publishOffers } from './publish-offers.ts'
import type { PublishWhen } from './publish-targets.ts'
import type { PublisherParts } from './publisher-parts.ts'
import {
  listPendingTargets,
  type PendingPage,
  type PublicationKind,
  type PublicationSpace,
  type PublicationTarget,
  type TargetName,
} from '../publications/repository.ts'
import { forEachConcurrently } from '../postgres/for-each-concurrently.ts'

export function spacesOf(kind: PublicationKind): readonly PublicationSpace[] {
  return kind === 'api-key' ? ['control'] : environments
}

export function poolOf({ database }: PublisherParts, space: PublicationSpace): Sql {
  return space === 'control' ? database.control : database.in(space)
}

/**
 * Publishes one target. With 'always' it is published even if nothing is queued, for copies that hot state has lost or that have
 * become outdated with time.
 */
export function publish(
  parts: PublisherParts,
  environment: Environment,
  target: PublicationTarget,
  when: PublishWhen,
): Promise<void> {
  return publishAll(parts, environment, target.kind, [target], when)
}

/** Publishes the targets of a batch of changes together, grouped by kind. For 'always', see `publish`. */
export async function publishTogether(
  parts: PublisherParts,
  environment: Environment,
  targets: readonly PublicationTarget[],
  when: PublishWhen = 'pending',
): Promise<void> {
  for (const kind of publishedKinds) {
    const ofKind = targets.filter((target) => target.kind === kind)
    for (const batch of batchesOf(ofKind)) {
      await publishAll(parts, environment, kind, batch, when)
    }
  }
}

async function publishAll(
  parts: PublisherParts,
  space: PublicationSpace,
  kind: PublicationKind,
  targets: readonly TargetName[],
  when: PublishWhen,
): Promise<void> {
  const { hotState } = parts
  const pool = poolOf(parts, space)
  if (space === 'control') return publishApiKeys(pool, hotState, targets, when)
  switch (kind) {
    case 'meters':
      return publishMeters(pool, hotState, space, targets, when)
    case 'offer':
      return publishOffers(pool, hotState, space, targets, when)
    case 'customer':
      return publishCustomers(parts, space, targets, when)
    case 'api-key':
      throw new Error('keys are published from the control schema')
  }
}

/**
 * Maximum number of targets in one transaction. Their state is read in one query for each table, and a request that changes one of
 * them waits for all.
 */
const targetsPerBatchMax = 500

/** While one batch waits for the database, another writes to hot state. The low number leaves connections to requests. */
const batchesInFlightMax = 2

export type PublishedRound = {
  readonly published: number
  /** Errors of targets that failed alone. */
  readonly failures: readonly unknown[]
  /** Whether there may be more to publish. */
  readonly hasMore: boolean
}

/** Number of publications that are read together. Those of failed targets stay queued, and later ones are published anyway. */
const publicationsPerPage = 4_000

/**
 * Publishes queued targets, until about `targetsMax` of each kind and space are done. A failed target does not keep others from
 * being published. Throws if hot state does not answer.
 */
export async function publishPending(
  parts: PublisherParts,
  targetsMax: number,
): Promise<PublishedRound> {
  let published = 0
  let hasMore = false
  const failures: unknown[] = []
  for (const kind of publishedKinds) {
    for (const space of spacesOf(kind)) {
      const round = await publishPendingOf(parts, space, kind, targetsMax)
      failures.push(...round.failures)
      published += round.published
      hasMore ||= round.hasMore
    }
  }
  return { published, failures, hasMore }
}

async function publishPendingOf(
  parts: PublisherParts,
  space: PublicationSpace,
  kind: PublicationKind,
  targetsMax: number,
): Promise<PublishedRound> {
  let published = 0
  const failures: unknown[] = []
  for (let after: string | undefined = '0'; after !== undefined;) {
    if (published >= targetsMax) return { published, failures, hasMore: true }
    const page: PendingPage = await listPendingTargets(
      poolOf(parts, space),
      kind,
      after,
      publicationsPerPage,
    )
    const failed = await publishSome(parts, space, kind, page.targets)
    failures.push(...failed)
    published += page.targets.length - failed.length
    after = page.last
  }
  return { published, failures, hasMore: false }
}

/** Publishes targets in batches. Returns the errors of those that failed. */
async function publishSome(
  parts: PublisherParts,
  space: PublicationSpace,
  kind: PublicationKind,
  targets: readonly TargetName[],
): Promise<unknown[]> {
  const failures: unknown[] = []
  await forEachConcurrently(batchesOf(targets), batchesInFlightMax, (batch) =>
    publishBatch(parts, space, kind, batch, failures),
  )
  return failures
}

/** Publishes a batch. If it fails, it is split into halves until each failing target is alone. */
async function publishBatch(
  parts: PublisherParts,
  space: PublicationSpace,
  kind: PublicationKind,
  batch: readonly TargetName[],
  failures: unknown[],
): Promise<void> {
  try {
    await publishAll(parts, space, kind, batch, 'pending')
  } catch (error) {
    await parts.hotState.ping()
    if (batch.length === 1) {
      failures.push(error)
      return
    }
    const middle = Math.ceil(batch.length / 2)
    await publishBatch(parts, space, kind, batch.slice(0, middle), failures)
    await publishBatch(parts, space, kind, batch.slice(middle), failures)
  }
}

function* batchesOf(targets: readonly TargetName[]): Generator<readonly TargetName[]> {
  for (let first = 0; first < targets.length; first += targetsPerBatchMax) {
    yield targets.slice(first, first + targetsPerBatchMax)
  }
}
