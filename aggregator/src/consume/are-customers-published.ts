import {
  publicationsProgressKey,
  publicationsStartKey,
  publicationsSubject,
  publishedSince,
  type PublicationsProgress,
  type PublicationsStart,
} from '@tollgate/schemas/hot-state/publications'
import type { Partition } from './partition-parts.ts'

/**
 * Whether the hot state has the windows of all customers of the partition: neither were they lost, nor is it still being
 * found out what was.
 */
export async function areCustomersPublished(parts: Partition): Promise<boolean> {
  const { hotState, environment, partition } = parts
  const [start, progress, incarnation, witness] = await Promise.all([
    readJson<PublicationsStart>(parts, publicationsStartKey),
    readJson<PublicationsProgress>(parts, publicationsProgressKey),
    hotState.incarnation(),
    hotState.readEntryDocument({
      space: environment,
      partition,
      subject: publicationsSubject,
      scope: '',
    }),
  ])
  const since = publishedSince(start, progress, incarnation)
  return since !== undefined && since.id === witness && since.published.includes('customer')
}

async function readJson<Document>(
  { hotState }: Partition,
  key: string,
): Promise<Document | undefined> {
  const document = await hotState.readDocument(key)
  return document === undefined ? undefined : (JSON.parse(document) as Document)
}
