import { publishedKinds, type PublishedKind } from '@tollgate/schemas/hot-state/publications'
import { readPublicationState, writeProgress } from './publication-state.ts'
import { poolOf, spacesOf } from './publisher.ts'
import type { PublisherParts } from './publisher-parts.ts'
import { isPublicationQueued } from '../publications/repository.ts'

/**
 * Records for which kinds everything lost has been published again. A missing document of such a kind then does not exist. Returns
 * the kinds that were newly recorded.
 *
 * The progress is read before the queue is checked, and written after that. A loss in between also loses the start, so the written
 * progress then has no effect.
 */
export async function recordPublishedKinds(
  parts: PublisherParts,
): Promise<readonly PublishedKind[]> {
  const { progress } = await readPublicationState(parts)
  if (progress === undefined) return []
  const recorded: PublishedKind[] = []
  for (const kind of publishedKinds) {
    if (progress.published.includes(kind)) continue
    if (await isKindPublished(parts, kind, progress.queuedTo)) recorded.push(kind)
  }
  if (recorded.length > 0) {
    await writeProgress(parts, { ...progress, published: [...progress.published, ...recorded] })
  }
  return recorded
}

async function isKindPublished(
  parts: PublisherParts,
  kind: PublishedKind,
  queuedTo: Readonly<Record<string, string>>,
): Promise<boolean> {
  for (const space of spacesOf(kind)) {
    const last = queuedTo[space] ?? '0'
    if (await isPublicationQueued(poolOf(parts, space), kind, last)) return false
  }
  return true
}
