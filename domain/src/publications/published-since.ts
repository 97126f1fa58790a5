import type { EntryAddress, HotState } from '@tollgate/platform/hot-state/hot-state'
import type { Environment } from '@tollgate/schemas/environment'
import {
  publicationsProgressKey,
  publicationsStartKey,
  publicationsSubject,
  publishedSince,
  type PublicationsProgress,
  type PublicationsStart,
} from '@tollgate/schemas/hot-state/publications'

type Documents = Pick<HotState, 'readDocument' | 'incarnation'>

export type PublishedSince = {
  readonly incarnation: string
  /** The last start, if its queue was completed. What was lost since then was published after it. */
  readonly queued: PublicationsStart | undefined
  /** Progress of the last start. Undefined if the start was lost or its queue was never completed, so that nothing is known. */
  readonly progress: PublicationsProgress | undefined
}

/** Returns what hot state records about its publications. */
export async function readPublishedSince(hotState: Documents): Promise<PublishedSince> {
  const [start, progress, incarnation] = await Promise.all([
    readJson<PublicationsStart>(hotState, publicationsStartKey),
    readJson<PublicationsProgress>(hotState, publicationsProgressKey),
    hotState.incarnation(),
  ])
  const queued = start !== undefined && progress?.id === start.id ? start : undefined
  return { incarnation, queued, progress: publishedSince(start, progress, incarnation) }
}

/**
 * Returns whether hot state has the windows of all customers of the partition. False if they were lost, or while the loss is being
 * determined.
 */
export async function areCustomersPublished(
  hotState: Documents & Pick<HotState, 'readEntryDocument'>,
  environment: Environment,
  partition: number,
): Promise<boolean> {
  const [{ progress }, witness] = await Promise.all([
    readPublishedSince(hotState),
    hotState.readEntryDocument(witnessOf(environment, partition)),
  ])
  return progress?.id === witness && progress?.published.includes('customer') === true
}

/** Returns the entry that is lost together with the entries of a partition. Its document is the id of the start. */
export function witnessOf(environment: Environment, partition: number): EntryAddress {
  return { space: environment, partition, subject: publicationsSubject, scope: '' }
}

async function readJson<Document>(hotState: Documents, key: string): Promise<Document | undefined> {
  const document = await hotState.readDocument(key)
  return document === undefined ? undefined : (JSON.parse(document) as Document)
}
