import type { EntryAddress, HotPlace } from '@tollgate/platform/hot-state/hot-state'
import { environments, type Environment } from '@tollgate/schemas/environment'
import {
  publicationsProgressKey,
  publicationsStartKey,
  type PublicationsProgress,
  type PublicationsStart,
} from '@tollgate/schemas/hot-state/publications'
import {
  readPublishedSince,
  witnessOf,
  type PublishedSince,
} from '../publications/published-since.ts'
import type { PublisherParts } from './publisher-parts.ts'

type StateParts = Pick<PublisherParts, 'hotState' | 'partitionCount'>

/** What hot state records about its publications. */
export type PublicationState = PublishedSince & {
  /** Partitions that have lost their entries since then, although nothing else reports a loss. */
  readonly lostPartitions: readonly Partition[]
}

type Partition = Extract<HotPlace, { readonly partition: number }>

export async function readPublicationState(parts: StateParts): Promise<PublicationState> {
  const since = await readPublishedSince(parts.hotState)
  const { queued } = since
  return {
    ...since,
    lostPartitions: queued === undefined ? [] : await listLostPartitions(parts, queued.id),
  }
}

async function listLostPartitions(parts: StateParts, id: string): Promise<Partition[]> {
  const witnesses = environments.flatMap((environment) => witnessesOf(parts, environment))
  const documents = await Promise.all(
    witnesses.map(async (at) => parts.hotState.readEntryDocument(at)),
  )
  return witnesses
    .filter((_, index) => documents[index] !== id)
    .map(({ space, partition }) => ({ space, partition }))
}

/** Writes the start, which is lost together with anything published after it. */
export async function writeStart(parts: StateParts, start: PublicationsStart): Promise<void> {
  const entry = { version: 1, document: start.id, windows: [] }
  const witnesses = environments.flatMap((environment) => witnessesOf(parts, environment))
  await Promise.all(witnesses.map((at) => parts.hotState.putEntry(at, entry)))
  await parts.hotState.putDocument(publicationsStartKey, JSON.stringify(start))
}

export async function writeProgress(
  { hotState }: Pick<StateParts, 'hotState'>,
  progress: PublicationsProgress,
): Promise<void> {
  await hotState.putDocument(publicationsProgressKey, JSON.stringify(progress))
}

function witnessesOf({ partitionCount }: StateParts, environment: Environment): EntryAddress[] {
  return Array.from({ length: partitionCount(environment) }, (_, partition) =>
    witnessOf(environment, partition),
  )
}
