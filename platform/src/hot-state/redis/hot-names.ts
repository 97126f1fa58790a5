/**
 * Names of all keys in Redis. All names of a partition begin with the name of its head in braces, which makes
 * it the hash tag, so that Redis Cluster stores them on one node.
 *
 *   {prefix:space:partition}    head: generations in use, fence, offset up to which marks are complete, a
 *                               running restore, and counters that show torn writes (scripts/partition.ts)
 *   head:<g>:                   followed by
 *     entry:<subject><scope>                    document
 *     windows:<subject><scope>                  version, bucket forms and first windows (windows-format.ts)
 *     later:<subject><scope>                    the other windows
 *     scopes:<subject>                          each scope that has windows or a document
 *     ends                                      (subject, scope), sorted by when its first window ends
 *     mark:<2 bytes>                            offsets by the other 14 bytes of the id
 *     marked:<minute>                           ids by the minute they were received in
 *     minutes                                   the minutes that have such a list
 *     held:<subject><scope>, expiries:.., reserved:.., reserving    reservations (scripts/kept-reservations.ts)
 *   head:<c>:                   followed by
 *     counter:<subject><scope><series>          amounts per window: `s<id>` scoped, `u<id>` unscoped, `w<id>` put aside; and
 *                                               per bucket: `b<form>/<number>`, with bounds in `n<form>`
 *     series:<subject><scope>                   the series that have a counter
 *     slot:<subject><scope><series><minute>     amounts per second of the minute
 *     slots:<subject><scope>                    series and minute of its slots, sorted by minute
 *     waiting                                   each (subject, scope) that has slots
 *   prefix:document:<key>       document
 *   prefix:acknowledged:<topic>     acknowledged head of the log, by partition
 *   prefix:caches                   leases of the processes that cache entries (entry-cache/scripts.ts)
 *
 * Subject, scope and series are name parts (`namePart`). `<g>` is the generation of entries and marks, `<c>` that of the
 * counts; the head names those in use. Each script reads them there, so none mixes two generations. A new
 * generation gets a name that was never used: remains of an older one, or of a partition whose head is lost, are not
 * visible and are swept.
 *
 * A restore uses the same mechanism. It fills separate counts, named by its token, which the head names as the `shadow`
 * beside those in use, with the next `step`; so putEntry folds slots of both, and the sweep keeps both. One write to
 * the head makes the shadow the counts in use, and the offset up to which they count the fence. A concurrent projection is
 * 'fenced' by that and continues from the new fence; of two restores, the one that began earlier finds another
 * token and stops.
 *
 * A lost partition has no head, like a new one: its fence is 0. The log distinguishes the two: only for a lost one
 * the position of the counters' consumer group is greater than 0.
 */
export class HotNames {
  readonly #prefix: string
  /** Channel on which every applied batch is announced. */
  readonly channel: string
  /** Channel on which changed entries are announced. */
  readonly changesChannel: string
  /** Leases of the processes that cache entries. Not a name of a partition, so it is not swept. */
  readonly caches: string

  constructor(prefix: string) {
    if (!/^[^{}]+$/.test(prefix))
      throw new RangeError('A key prefix has no braces and is not empty')
    this.#prefix = prefix
    this.channel = `${prefix}:applied`
    this.changesChannel = `${prefix}:changed`
    this.caches = `${prefix}:caches`
  }

  document(key: string): string {
    return `${this.#prefix}:document:${key}`
  }

  /** Returns the name of the acknowledged heads. It is not a name of a partition, so it is not swept. */
  acknowledgedHeads(topic: string): string {
    return `${this.#prefix}:acknowledged:${topic}`
  }

  /** Returns the name of the head of a partition. */
  partition(space: string, partition: number): string {
    return `{${this.#prefix}:${space}:${partition}}`
  }
}

/** Prefixes text with its length in bytes ("3:abc"), so that concatenated parts are unambiguous. */
export function namePart(text: string): string {
  return `${Buffer.byteLength(text, 'utf8')}:${text}`
}
