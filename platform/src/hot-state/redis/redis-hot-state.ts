import { randomBytes } from 'node:crypto'
import { checkBucketSpecs } from '../buckets.ts'
import type {
  CounterBatch,
  Entry,
  EntryAddress,
  EntrySeriesView,
  EntryView,
  HotState,
  Loss,
  MarkClaim,
  NamedEntry,
  RestoreFinish,
  RestoreStep,
  SpansNotTaken,
  SweepLimits,
} from '../hot-state.ts'
import type {
  ReserveOutcome,
  ReserveRequest,
  SettlementElsewhere,
  TakenQuery,
  TakenReading,
} from '../reservations.ts'
import { movesCounts, packPlainEntry } from './plain-entries.ts'
import { putOneByOne } from './put-one-by-one.ts'
import { endedWith } from '../ended-reservations.ts'
import { takenIn } from '../taken-in.ts'
import type { AcknowledgedHeads } from '../../event-log/acknowledged-heads.ts'
import { ApplyListener } from './apply-listener.ts'
import { packIncrements, packMarkIds, packMarks, packSpans } from './batch-format.ts'
import {
  createClient,
  createSubscriber,
  reportConnection,
  type ConnectionReports,
  type RedisClient,
  type RedisServers,
  type RedisTls,
} from './connect.ts'
import { createDocumentReads } from './document-reads.ts'
import { withEntryCache, type EntryCacheOptions } from './entry-cache/with-entry-cache.ts'
import { createEntryReads, createSeriesReads } from './entry-reads.ts'
import { HotNames, namePart } from './hot-names.ts'
import { slotOf } from './hash-slot.ts'
import { readIncarnation } from './incarnation.ts'
import { lostSlots, readLives } from './lives.ts'
import { checkMemoryPolicies, readMemoryPolicies } from './memory-policy.ts'
import { checkReplicasToWrite, readReplicasToWrite } from './replicas-to-write.ts'
import { createHeadsOf } from './redis-home-notes.ts'
import { RedisCalls } from './redis-calls.ts'
import { packSettled, RedisReservations } from './reservations.ts'
import { applyScript } from './scripts/apply.ts'
import { deleteEntryScript } from './scripts/delete-entry.ts'
import { claimMarksScript, readMarksScript } from './scripts/mark.ts'
import { putEntryScript } from './scripts/put-entry.ts'
import { putPlainEntriesScript } from './scripts/put-plain-entries.ts'
import { readDocumentsScript } from './scripts/read-documents.ts'
import { readEntriesScript, readSeriesScript } from './scripts/read-entries.ts'
import { readTakenScript } from './scripts/read-taken.ts'
import { beginRestoreScript, finishRestoreScript, restoreScript } from './scripts/restore.ts'
import type { Script } from './scripts/script.ts'
import { Sweeper } from './sweeper.ts'
import { MarkReads } from './mark-reads.ts'
import { TakenReads } from './taken-reads.ts'
import { TurnReads } from './turn-reads.ts'
import { packWindows } from './windows-format.ts'

export type RedisHotStateOptions = ConnectionReports & {
  readonly servers: RedisServers
  /** Prefix of all key names, so that several states can share the servers. Default: `tollgate`. */
  readonly keyPrefix?: string
  /** Timeout of a call, in milliseconds. Default: 2,000. */
  readonly callTimeoutMs?: number
  /** Maximum concurrent calls; further calls fail at once. Default: 20,000. */
  readonly callsInFlightMax?: number
  /** Minutes of slots that one step of a publication folds, per kind of slot. Default: 30. */
  readonly foldedMinutesMax?: number
  readonly tls?: RedisTls
  /** Cache of entries in this process. Default: none. */
  readonly entryCache?: EntryCacheOptions | undefined
}

/**
 * Opens hot state on a Redis server or a Redis Cluster. HotNames documents its keys. Opening succeeds even if Redis is unavailable;
 * calls then fail within `callTimeoutMs` with a RedisUnavailableError until it is back.
 */
export async function openRedisHotState(options: RedisHotStateOptions): Promise<HotState> {
  const names = new HotNames(options.keyPrefix ?? 'tollgate')
  const limits = {
    callTimeoutMs: options.callTimeoutMs ?? 2_000,
    callsInFlightMax: options.callsInFlightMax ?? 20_000,
  }
  const client = createClient(options.servers, limits.callTimeoutMs, options.tls)
  reportConnection(client, options)
  const calls = new RedisCalls(client, limits)
  await calls.call(() => client.connect()).catch(() => undefined)
  const hotState = new RedisHotState(client, calls, names, options.foldedMinutesMax ?? 30)
  return withEntryCache(hotState, { client, calls, names }, options.entryCache)
}

class RedisHotState implements Omit<HotState, 'cachedEntryDocument'> {
  readonly acknowledgedHeads: AcknowledgedHeads
  readonly #calls: RedisCalls
  readonly #names: HotNames
  readonly #foldedMinutesMax: number
  readonly #listener: ApplyListener
  readonly #reads: TurnReads<EntryView>
  readonly #seriesReads: ReturnType<typeof createSeriesReads>
  readonly #taken: TakenReads
  readonly #entryDocuments: TurnReads<string | null>
  readonly #documents: TurnReads<string | null>
  readonly #marks: MarkReads
  readonly #sweeper = new Sweeper()
  readonly #reservations = new RedisReservations((...step) => this.#run(...step))

  constructor(client: RedisClient, calls: RedisCalls, names: HotNames, foldedMinutesMax: number) {
    this.#calls = calls
    this.#names = names
    this.#foldedMinutesMax = foldedMinutesMax
    this.acknowledgedHeads = createHeadsOf(client, calls, (topic) => names.acknowledgedHeads(topic))
    this.#reads = createEntryReads((partition, args) =>
      this.#calls.run(readEntriesScript, keysOf(partition), args, args.length / 2),
    )
    this.#seriesReads = createSeriesReads((partition, args, countersTotal) =>
      this.#calls.run(readSeriesScript, keysOf(partition), args, countersTotal),
    )
    this.#taken = new TakenReads((partition, args) =>
      this.#calls.run(readTakenScript, keysOf(partition), args, args.length / 5),
    )
    this.#entryDocuments = createDocumentReads((partition, names) =>
      this.#calls.run(readDocumentsScript, keysOf(partition), names, names.length),
    )
    // Many refusals of one turn need the same document.
    this.#documents = new TurnReads(
      async (name) => [await this.#calls.call((client) => client.get(name))],
      1,
    )
    this.#marks = new MarkReads(async (at, ids, readers) => {
      const keys = keysOf(this.#head(at))
      const answer = await this.#calls.run(readMarksScript, keys, [packMarkIds(ids)], readers)
      return answer as (string | null)[]
    })
    this.#listener = new ApplyListener(() => createSubscriber(client), names.channel)
  }

  async putDocument(key: string, document: string): Promise<void> {
    await this.#calls.call((client) => client.set(this.#names.document(key), document))
  }

  async deleteDocument(key: string): Promise<void> {
    await this.#calls.call((client) => client.del(this.#names.document(key)))
  }

  async readDocument(key: string): Promise<string | undefined> {
    return (await this.#documents.read(this.#names.document(key))) ?? undefined
  }

  async putEntry(at: EntryAddress, entry: Entry): Promise<void> {
    checkBucketSpecs(entry.buckets ?? [])
    const names = [namePart(at.subject), namePart(at.scope)]
    const args = [
      ...names,
      entry.document,
      packWindows(entry),
      `${this.#foldedMinutesMax}`,
      packSettled(endedWith(at, entry)),
      ...takenIn(entry).flatMap(({ window, into }) => [window, into]),
    ]
    while ((await this.#run(at, putEntryScript, args)) === 1);
  }

  async putEntries(
    space: string,
    partition: number,
    entries: readonly NamedEntry[],
  ): Promise<void> {
    for (const { buckets = [] } of entries) checkBucketSpecs(buckets)
    // Entries of one subject keep their order, so if one of them must be published alone, all of them are.
    const moving = new Set(entries.filter(movesCounts).map(({ subject }) => subject))
    const plain = entries.filter(({ subject }) => !moving.has(subject))
    const left = await this.#putPlainEntries(space, partition, plain)
    const others = entries.filter(({ subject }) => moving.has(subject))
    await putOneByOne(this, space, partition, [...left, ...others])
  }

  /** Publishes entries that need no folding. Returns the entries that were not published. */
  async #putPlainEntries(
    space: string,
    partition: number,
    entries: readonly NamedEntry[],
  ): Promise<NamedEntry[]> {
    if (entries.length === 0) return []
    const args = entries.flatMap(packPlainEntry)
    const left = (await this.#run({ space, partition }, putPlainEntriesScript, args)) as number[]
    return left.map((place) => entries[place - 1]!)
  }

  async deleteEntry(at: EntryAddress): Promise<void> {
    await this.#run(at, deleteEntryScript, [namePart(at.subject), namePart(at.scope)])
  }

  async readEntry(at: EntryAddress, series: string): Promise<EntryView> {
    const name = entryName(at)
    return await this.#reads.read(this.#head(at), name, name + namePart(series))
  }

  async readEntrySeries(at: EntryAddress, series: readonly string[]): Promise<EntrySeriesView> {
    const name = entryName(at)
    const counters = series.map((each) => name + namePart(each))
    const view = await this.#seriesReads.read(this.#head(at), name, ...counters)
    const { document, appliedOffset } = view
    const bySeries = new Map(series.map((each, index) => [each, view.counters[index]!]))
    return { document, series: bySeries, appliedOffset }
  }

  async readEntryDocument(at: EntryAddress): Promise<string | undefined> {
    return (await this.#entryDocuments.read(this.#head(at), entryName(at))) ?? undefined
  }

  async appliedOffset(space: string, partition: number): Promise<number> {
    const head = this.#head({ space, partition })
    const [fence, begun, done] = await this.#calls.call((client) =>
      client.hmget(head, 'fence', 'begun', 'done'),
    )
    return begun === done ? Number(fence) : 0
  }

  async readMarks(
    space: string,
    partition: number,
    ids: readonly string[],
  ): Promise<(number | undefined)[]> {
    return await this.#marks.read({ space, partition }, ids)
  }

  async claimMarks(claim: MarkClaim): Promise<readonly number[] | 'incomplete'> {
    const { marks, fromOffset, toOffset } = claim
    const answer = await this.#run(claim, claimMarksScript, [
      offsetText(fromOffset),
      offsetText(toOffset),
      packMarkIds(marks.map(({ id }) => id)),
      packMarks(marks),
    ])
    return answer === 0 ? 'incomplete' : (answer as string[]).map(Number)
  }

  async apply(batch: CounterBatch): Promise<'applied' | 'fenced'> {
    const { expectedOffset, nextOffset, increments, marks } = batch
    const answer = await this.#run(batch, applyScript, [
      offsetText(expectedOffset),
      offsetText(nextOffset),
      packIncrements(increments),
      packMarks(marks),
      this.#names.channel,
      packSettled(batch.settled ?? []),
    ])
    if (answer === 0) return 'fenced'
    this.#listener.wake()
    return 'applied'
  }

  async beginRestore(space: string, partition: number): Promise<string> {
    const token = randomBytes(tokenBytes).toString('base64url')
    await this.#run({ space, partition }, beginRestoreScript, [token])
    return token
  }

  async restore(step: RestoreStep): Promise<SpansNotTaken | 'fenced'> {
    const { spans = [], marks = [], markedOffset = 0, slotLimits } = step
    const { increments, longer, order } = packSpans(spans)
    const answer = await this.#run(step, restoreScript, [
      step.token,
      step.step.toString(),
      increments,
      longer,
      packMarks(marks),
      offsetText(markedOffset),
      `${slotLimits?.slotsBeforeSecond ?? ''}`,
      `${slotLimits?.knownSubjectSlotsBeforeSecond ?? ''}`,
    ])
    if (answer === 0) return 'fenced'
    const [cut, outside] = answer as [number[], number[]]
    const indices = (places: number[]) =>
      places.map((place) => order[place - 1]!).sort((one, other) => one - other)
    return { cut: indices(cut), outside: indices(outside) }
  }

  async finishRestore(finish: RestoreFinish): Promise<'restored' | 'fenced'> {
    const { token, step, nextOffset } = finish
    const answer = await this.#run(finish, finishRestoreScript, [
      token,
      step.toString(),
      offsetText(nextOffset),
      this.#names.channel,
    ])
    if (answer === 0) return 'fenced'
    this.#listener.wake()
    return 'restored'
  }

  canReserve(): boolean {
    return true
  }

  reserve(request: ReserveRequest): Promise<ReserveOutcome> {
    return this.#reservations.reserve(request)
  }

  reserveBatch: HotState['reserveBatch'] = (requests, mode) =>
    this.#reservations.reserveBatch(requests, mode)

  extendReservation: HotState['extendReservation'] = (extension) =>
    this.#reservations.extend(extension)

  releaseReservation: HotState['releaseReservation'] = (at, reservationId, together) =>
    this.#reservations.release(at, reservationId, together)

  settleReservations(settlement: SettlementElsewhere): Promise<void> {
    return this.#reservations.settle(settlement)
  }

  readTaken(query: TakenQuery): Promise<TakenReading> {
    return this.#taken.read(this.#head(query.at), query)
  }

  waitForApply(timeoutMs: number): Promise<void> {
    return this.#listener.wait(timeoutMs)
  }

  async sweep(space: string, partition: number, limits: SweepLimits): Promise<number> {
    const at = { space, partition }
    return await this.#sweeper.sweep(this.#head(at), limits, (...step) => this.#run(at, ...step))
  }

  async incarnation(): Promise<string> {
    return await this.#calls.call(readIncarnation)
  }

  async lives(): Promise<string> {
    return await this.#calls.call(readLives)
  }

  lostBetween(then: string, now: string): Loss {
    const isSlotLost = lostSlots(then, now)
    if (isSlotLost === 'everything') return isSlotLost
    return (place) =>
      isSlotLost(
        slotOf('document' in place ? this.#names.document(place.document) : this.#head(place)),
      )
  }

  async checkReplicas(least: number): Promise<void> {
    checkReplicasToWrite(await this.#calls.call(readReplicasToWrite), least)
  }

  async ping(): Promise<void> {
    checkMemoryPolicies(await this.#calls.call(readMemoryPolicies))
  }

  async close(): Promise<void> {
    this.#listener.close()
    this.#calls.close()
  }

  #run(at: Place, script: Script, args: readonly (string | Buffer)[]): Promise<unknown> {
    return this.#calls.run(script, keysOf(this.#head(at)), args)
  }

  #head({ space, partition }: Place): string {
    return this.#names.partition(space, partition)
  }
}

/** The token is part of every name that its restore writes, so it is as short as uniqueness allows. */
const tokenBytes = 9

type Place = { readonly space: string; readonly partition: number }

/**
 * Returns the keys of a script call. The second key never exists. While a cluster moves the hash slot of the partition between
 * nodes, a script would treat keys on the other node as empty. In that state Redis refuses a call with a missing key before
 * anything is executed (TRYAGAIN), and it is sent again.
 */
function keysOf(head: string): readonly string[] {
  return [head, `${head}:never`]
}

function entryName({ subject, scope }: EntryAddress): string {
  return namePart(subject) + namePart(scope)
}

function offsetText(offset: number): string {
  if (!Number.isSafeInteger(offset) || offset < 0) throw new RangeError(`No offset: ${offset}`)
  return offset.toString()
}
