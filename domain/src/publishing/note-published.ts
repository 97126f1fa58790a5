import { publishedKinds, type PublishedKind } from '@tollgate/schemas/hot-state/publications'
import { readPublicationState, writeProgress } from './publication-state.ts'
import { poolOf, spacesOf } from './publisher.ts'
import type { PublisherParts } from './publisher-parts.ts'
import { isPublicationWaiting } from '../publications/repository.ts'

/**
 * Lets readers know of which kinds everything that was lost has been published again: a document of these that is
 * missing does not exist. Returns the kinds that became known now.
 *
 * The progress is read before it is seen what waits, and written after. A loss in between takes the start along, so
 * what is written then says nothing.
 */
export async function notePublished(parts: PublisherParts): Promise<readonly PublishedKind[]> {
  const { progress } = await readPublicationState(parts)
  if (progress === undefined) return []
  const noted: PublishedKind[] = []
  for (const kind of publishedKinds) {
    if (progress.published.includes(kind)) continue
    if (await isCarriedOut(parts, kind, progress.queuedTo)) noted.push(kind)
  }
  if (noted.length > 0) {
    await writeProgress(parts, { ...progress, published: [...progress.published, ...noted] })
  }
  return noted
}

async function isCarriedOut(
  parts: PublisherParts,
  kind: PublishedKind,
  queuedTo: Readonly<Record<string, string>>,
): Promise<boolean> {
  for (const space of spacesOf(kind)) {
    const last = queuedTo[space] ?? '0'
    if (await isPublicationWaiting(poolOf(parts, space), kind, last)) return false
  }
  return true
}
