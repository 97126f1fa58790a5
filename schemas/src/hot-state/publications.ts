/*
 * How hot state says what became of the publications. Whatever was published can be lost with it, in whole or in part,
 * at any moment; a reader that finds no document must be able to tell "there is none" from "it is not there yet".
 */

/** In the order of how much waits for them: without keys nobody gets in. */
export const publishedKinds = ['api-key', 'meters', 'offer', 'customer'] as const

export type PublishedKind = (typeof publishedKinds)[number]

/**
 * Under `publicationsStartKey`: written before everything is queued, and never again. A loss takes it along, or, if
 * that should not be seen otherwise, leaves it with an incarnation that is not the hot state's any more.
 */
export type PublicationsStart = {
  /** Random, and never used for another start. */
  readonly id: string
  /** `HotState.incarnation()` before the first document was published. */
  readonly incarnation: string
  /** `HotState.lives()` after that. Absent in a start of an older release. */
  readonly lives?: string
}

export const publicationsStartKey = 'publications/start'

/** Under `publicationsProgressKey`: written when everything has been queued, and again for each kind that is done. */
export type PublicationsProgress = {
  /** Of the start that it belongs to; of another start it says nothing. */
  readonly id: string
  /** The last publication that was queued then, by the schema of PostgreSQL that has it. */
  readonly queuedTo: Readonly<Record<string, string>>
  /** Kinds of which everything that was queued has been carried out. */
  readonly published: readonly PublishedKind[]
}

export const publicationsProgressKey = 'publications/progress'

/** What may be concluded from the two documents as they stand in a hot state of this incarnation. */
export function publishedSince(
  start: PublicationsStart | undefined,
  progress: PublicationsProgress | undefined,
  incarnation: string,
): PublicationsProgress | undefined {
  if (start === undefined || start.incarnation !== incarnation) return undefined
  return progress?.id === start.id ? progress : undefined
}

/**
 * Each partition has an entry of this subject with the start's id as its document: entries are kept by partition, and
 * one that loses them loses this one with them. No customer's subject looks like it.
 */
export const publicationsSubject = 'publications'
