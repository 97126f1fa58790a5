/**
 * The names under which Redis keeps everything. All names of a partition begin with its head's, in braces: these make
 * it the hash tag, so that Redis Cluster keeps them together.
 *
 *   {prefix:space:partition}    head: which generation of what is in use, fence, up to where marks are complete, a
 *                               restore under way, and what tells whether it is whole (scripts/partition.ts)
 *   head:<g>:                   and then
 *     entry:<subject><scope>                    document
 *     windows:<subject><scope>                  version and first windows (windows-format.ts)
 *     later:<subject><scope>                    the other windows
 *     scopes:<subject>                          each scope that has windows or a document
 *     ends                                      (subject, scope), sorted by when its first window ends
 *     mark:<2 bytes>                            offsets by the other 14 bytes of the id
 *     marked:<minute>                           ids by the minute they were received in
 *     minutes                                   the minutes that have such a list
 *     held:<subject><scope>, expiries:.., reserved:.., reserving    reservations (scripts/kept-reservations.ts)
 *   head:<c>:                   and then
 *     counter:<subject><scope><series>          amounts per window: `s<id>` scoped, `u<id>` unscoped, `w<id>` put aside
 *     series:<subject><scope>                   the series that have a counter
 *     slot:<subject><scope><series><minute>     amounts per second of the minute
 *     slots:<subject><scope>                    series and minute of its slots, sorted by minute
 *     waiting                                   each (subject, scope) that has slots
 *   prefix:document:<key>       document
 *   prefix:acknowledged:<topic>     how far the log was acknowledged, by partition
 *
 * Subject, scope and series are name parts (`namePart`). `<g>` is the generation of entries and marks, `<c>` that of the
 * counts, and the head says which ones are in use. Each script reads it there, so none mixes two. Whoever begins a
 * generation takes a name that was never used: what remains of an older one, or of a partition whose head is lost, is not
 * seen and is swept.
 *
 * That is also how a restore swaps. It fills counts of its own, named by its token, which the head shows as the `shadow`
 * beside those in use, with the next `step`; so putEntry folds slots of both, and the sweep spares both. In one write to
 * the head the shadow becomes the counts in use, and the fence the offset up to which they count. A projection that was
 * at work is 'fenced' by that and goes on from the new fence; of two restores the one that began earlier finds another
 * token and gives up.
 *
 * A partition that was lost has no head, as one that is new: its fence is 0. What tells the two apart is the log, where
 * the position of the counters' group is behind that of no new partition.
 */
export class HotNames {
  readonly #prefix: string
  /** Where every applied batch is announced. */
  readonly channel: string

  constructor(prefix: string) {
    if (!/^[^{}]+$/.test(prefix))
      throw new RangeError('A key prefix has no braces and is not empty')
    this.#prefix = prefix
    this.channel = `${prefix}:applied`
  }

  document(key: string): string {
    return `${this.#prefix}:document:${key}`
  }

  /** Not among the names of a hot state's partition, which are swept. */
  acknowledgedHeads(topic: string): string {
    return `${this.#prefix}:acknowledged:${topic}`
  }

  /** The name of the partition's head. */
  partition(space: string, partition: number): string {
    return `{${this.#prefix}:${space}:${partition}}`
  }
}

/** Tells its bytes first ("3:abc"), so that it never reaches into what follows. */
export function namePart(text: string): string {
  return `${Buffer.byteLength(text, 'utf8')}:${text}`
}
