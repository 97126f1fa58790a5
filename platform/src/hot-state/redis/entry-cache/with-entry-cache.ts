import { withCalls } from '../../../observability/traced-call.ts'
import type { EntryAddress, HotState } from '../../hot-state.ts'
import { createSubscriber, type RedisClient } from '../connect.ts'
import type { HotNames } from '../hot-names.ts'
import type { RedisCalls } from '../redis-calls.ts'
import { EntryAnnouncer, type ChangedEntries } from './entry-announcer.ts'
import { EntryDocuments } from './entry-documents.ts'
import { EntryLease, type LeaseOptions } from './entry-lease.ts'

export type EntryCacheOptions = Pick<LeaseOptions, 'leaseMs' | 'replicasMin'> & {
  /** Characters of all cached documents of a space and their names. */
  readonly charsMax: number
}

type Access = {
  readonly client: RedisClient
  readonly calls: RedisCalls
  readonly names: HotNames
}

type Parts = Pick<LeaseOptions, 'run' | 'channel' | 'createConnection'>

type Uncached = Omit<HotState, 'cachedEntryDocument'>

/**
 * Adds a cache of entries to hot state, and the announcement of changed entries to all processes that have one. Without options,
 * this process caches nothing.
 */
export function withEntryCache(
  hotState: Uncached,
  { client, calls, names }: Access,
  options: EntryCacheOptions | undefined,
): HotState {
  const parts: Parts = {
    run: (script, args) => calls.run(script, [names.caches], args),
    channel: names.changesChannel,
    createConnection: () => createSubscriber(client),
  }
  const announcer = new EntryAnnouncer(parts.run, parts.channel)
  /** Some entries may be changed even if the change failed. */
  const announced = async (changed: ChangedEntries, change: Promise<void>): Promise<void> => {
    const [done, noticed] = await Promise.allSettled([
      change,
      change.catch(() => undefined).then(() => announcer.announce(changed)),
    ])
    for (const each of [done, noticed]) if (each.status === 'rejected') throw each.reason
  }
  const announcedEntry = (at: EntryAddress, change: Promise<void>): Promise<void> =>
    announced({ space: at.space, partition: at.partition, subjects: [at.subject] }, change)
  const cache = options && new EntryCache(hotState, parts, options)
  return withCalls<HotState>(hotState as HotState, {
    putEntry: (at, entry) => announcedEntry(at, hotState.putEntry(at, entry)),
    putEntries: (space, partition, entries) => {
      const subjects = [...new Set(entries.map(({ subject }) => subject))]
      return announced(
        { space, partition, subjects },
        hotState.putEntries(space, partition, entries),
      )
    },
    deleteEntry: (at) => announcedEntry(at, hotState.deleteEntry(at)),
    cachedEntryDocument: (at) =>
      cache === undefined ? hotState.readEntryDocument(at) : cache.document(at),
    close: async () => {
      await cache?.close()
      await hotState.close()
    },
  })
}

class EntryCache {
  readonly #hotState: Uncached
  readonly #charsMax: number
  readonly #lease: EntryLease
  readonly #spaces = new Map<string, EntryDocuments>()

  constructor(hotState: Uncached, parts: Parts, options: EntryCacheOptions) {
    this.#hotState = hotState
    this.#charsMax = options.charsMax
    this.#lease = new EntryLease({
      ...parts,
      ...options,
      onChanged: ({ space, partition, subjects }) => this.#in(space).drop(partition, subjects),
      onMissed: () => {
        for (const documents of this.#spaces.values()) documents.clear()
      },
    })
  }

  document(at: EntryAddress): string | undefined | Promise<string | undefined> {
    if (!this.#lease.isValid()) return this.#hotState.readEntryDocument(at)
    const documents = this.#in(at.space)
    const cached = documents.find(at.subject, at.scope)
    return cached === undefined ? this.#read(documents, at) : (cached ?? undefined)
  }

  async #read(documents: EntryDocuments, at: EntryAddress): Promise<string | undefined> {
    const moment = documents.beginRead(at.partition)
    const document = await this.#hotState.readEntryDocument(at)
    documents.keep(moment, at, document ?? null)
    return document
  }

  close(): Promise<void> {
    return this.#lease.close()
  }

  #in(space: string): EntryDocuments {
    let documents = this.#spaces.get(space)
    if (documents === undefined) {
      documents = new EntryDocuments(this.#charsMax)
      this.#spaces.set(space, documents)
    }
    return documents
  }
}
