/*
 * Documents that record the progress of publications in the hot state. The hot state can lose published documents at any time, all
 * or some of them. A reader that finds no document must be able to distinguish a document that does not exist from one that is not
 * published yet.
 */

/** Kinds of documents, most urgent first: without keys, no request is accepted. */
export const publishedKinds = ['api-key', 'meters', 'offer', 'customer'] as const

export type PublishedKind = (typeof publishedKinds)[number]

/**
 * The document under `publicationsStartKey`. It is written before the publication of lost documents is queued: of every document,
 * or of those in the lost partitions. A loss of data either deletes it or, if the loss would otherwise be invisible, leaves it with
 * an incarnation that the hot state no longer has.
 */
export type PublicationsStart = {
  /** A random id that is never reused. */
  readonly id: string
  /** Result of `HotState.incarnation()` before the first document was published. */
  readonly incarnation: string
  /** Result of `HotState.lives()` after that. Absent in documents of older releases. */
  readonly lives?: string
}

export const publicationsStartKey = 'publications/start'

/**
 * The document under `publicationsProgressKey`. It is written when all publications are queued, and again for each kind that is
 * complete.
 */
export type PublicationsProgress = {
  /** The id of the start that it belongs to. For another start it is invalid. */
  readonly id: string
  /** The last publication that was queued then, by schema of PostgreSQL. */
  readonly queuedTo: Readonly<Record<string, string>>
  /** Kinds whose queued publications have all been executed. */
  readonly published: readonly PublishedKind[]
}

export const publicationsProgressKey = 'publications/progress'

/** Returns the progress if both documents belong together and to this incarnation of the hot state, otherwise undefined. */
export function publishedSince(
  start: PublicationsStart | undefined,
  progress: PublicationsProgress | undefined,
  incarnation: string,
): PublicationsProgress | undefined {
  if (start === undefined || start.incarnation !== incarnation) return undefined
  return progress?.id === start.id ? progress : undefined
}

/**
 * Subject of an entry in each partition with the start's id as its document. Entries are stored by partition, so a partition that
 * loses its entries loses this one too. No customer's subject has this form.
 */
export const publicationsSubject = 'publications'
