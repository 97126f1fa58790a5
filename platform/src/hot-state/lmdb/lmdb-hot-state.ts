import { commit } from '../../lmdb/commit.ts'
import { CommitNotifier, CommitListener } from '../../lmdb/commit-notifier.ts'
import { openEnvironment, readEnvironmentId } from '../../lmdb/environment.ts'
import type { LmdbStore } from '../../lmdb/lmdb-store.ts'
import { WakeUps } from '../../waiting/wake-ups.ts'
import { announceNotifier, claimedPath, releaseClaim } from '../../lmdb/writer-claim.ts'
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
import {
  checkReserveBatch,
  checkReserveRequest,
  type BatchMode,
  type ExtendOutcome,
  type PlaceName,
  type ReservationExtension,
  type ReserveOutcome,
  type ReserveRequest,
  type SettlementElsewhere,
  type TakenQuery,
  type TakenReading,
} from '../reservations.ts'
import { applyBatch } from './apply-batch.ts'
import { deleteEntry, putEntry } from './entries.ts'
import { raiseEntriesVersion } from './entries-version.ts'
import { EntryReader } from './entry-reader.ts'
import { hotKey, keySpaces, partitionPart, textPart } from './hot-keys.ts'
import { claimMarks } from './claim-marks.ts'
import { readMarks } from './marks.ts'
import { raiseOpenings } from './openings.ts'
import { readPartitionHead } from './partition-head.ts'
import { TurnSnapshot } from './turn-snapshot.ts'
import { beginPartitionRestore, finishRestore, restore } from './restore.ts'
import { SubjectRecords } from './subject-record.ts'
import { extend, release, settle, sweepReservations } from './end-reservations.ts'
import { reserve, reserveBatch } from './reservations.ts'
import { Sweeper } from './sweep.ts'
import { readTaken } from './taken.ts'

export type LmdbHotStateOptions = {
  readonly folder: string
  /**
   * 'projection' applies batches and wakes waiting readers in all processes; 'publisher' writes documents and entries; 'reader'
   * only reads.
   */
  readonly role: 'projection' | 'publisher' | 'reader'
  /** Milliseconds that a reader waits for another process to create the state. Default: 30,000. */
  readonly createdWithinMs?: number
  /** Approximate minutes of slots that one step of a publication folds. Default: 200. */
  readonly foldedMinutesMax?: number
}

const formatVersion = 2
const applyChannel = 0

export async function openLmdbHotState(options: LmdbHotStateOptions): Promise<HotState> {
  const store = await openEnvironment({
    folder: options.folder,
    content: 'hot state',
    formatVersion,
    access: options.role === 'reader' ? 'read' : 'write',
    createdWithinMs: options.createdWithinMs ?? 30_000,
  })
  if (options.role !== 'reader') await raiseOpenings(store)
  if (options.role !== 'projection') {
    return new LmdbHotState(store, undefined, options)
  }
  // A second projection is allowed: the fence of each partition keeps the two apart.
  const notifier = await CommitNotifier.open(options.folder)
  await announceNotifier(store, notifier)
  return new LmdbHotState(store, notifier, options)
}

/** A projection returns to the same subjects with each batch; a publisher rarely returns to a subject soon. */
const cachedSubjectsMax = { projection: 20_000, publisher: 1_000, reader: 1_000 } as const

class LmdbHotState implements HotState {
  readonly acknowledgedHeads = undefined
  readonly #isReader: boolean
  readonly #store: LmdbStore
  readonly #subjects: SubjectRecords
  readonly #turn: TurnSnapshot
  readonly #entries: EntryReader
  readonly #sweeper: Sweeper
  readonly #notifier: CommitNotifier | undefined
  readonly #wakeUps = new WakeUps()
  readonly #listener: CommitListener
  readonly #foldedMinutesMax: number

  constructor(
    store: LmdbStore,
    notifier: CommitNotifier | undefined,
    { role, foldedMinutesMax = 200 }: LmdbHotStateOptions,
  ) {
    this.#isReader = role === 'reader'
    this.#foldedMinutesMax = foldedMinutesMax
    this.#store = store
    this.#subjects = new SubjectRecords(store, cachedSubjectsMax[role])
    this.#turn = new TurnSnapshot(store)
    this.#entries = new EntryReader(store, this.#subjects, this.#turn)
    this.#sweeper = new Sweeper(store, this.#subjects)
    this.#notifier = notifier
    this.#listener = new CommitListener(() => claimedPath(store))
  }

  async putDocument(key: string, document: string): Promise<void> {
    await commit(this.#store, () => this.#store.put(documentKey(key), Buffer.from(document)))
  }

  async deleteDocument(key: string): Promise<void> {
    await commit(this.#store, () => this.#store.remove(documentKey(key)))
  }

  async readDocument(key: string): Promise<string | undefined> {
    this.#turn.renew()
    const bytes = this.#store.getBinary(documentKey(key))
    return bytes === undefined ? undefined : Buffer.from(bytes).toString('utf8')
  }

  async putEntry({ space, partition, ...name }: EntryAddress, entry: Entry): Promise<void> {
    await this.putEntries(space, partition, [{ ...name, ...entry }])
  }

  async putEntries(
    space: string,
    partition: number,
    entries: readonly NamedEntry[],
  ): Promise<void> {
    for (const { buckets = [] } of entries) checkBucketSpecs(buckets)
    let left = entries
    while (left.length > 0) {
      const step = left
      left = await this.#atomically(() => this.#putStep(space, partition, step))
    }
  }

  /**
   * Runs one step of each entry. An entry starts only after the previous entries of its subject are complete. Returns the entries
   * that need more steps.
   */
  #putStep(space: string, partition: number, entries: readonly NamedEntry[]): NamedEntry[] {
    const begun = new Set<string>()
    const now = Date.now()
    const left = entries.filter(({ subject, scope, ...entry }) => {
      if (begun.has(subject)) return true
      const at = { space, partition, subject, scope }
      const outcome = putEntry(this.#store, this.#subjects, at, entry, this.#foldedMinutesMax, now)
      if (outcome === 'more') begun.add(subject)
      return outcome === 'more'
    })
    raiseEntriesVersion(this.#store)
    return left
  }

  async deleteEntry(at: EntryAddress): Promise<void> {
    await this.#atomically(() => deleteEntry(this.#store, this.#subjects, at))
  }

  readEntry(at: EntryAddress, series: string): EntryView {
    return this.#entries.view(at, series)
  }

  readEntrySeries(at: EntryAddress, series: readonly string[]): EntrySeriesView {
    return this.#entries.seriesView(at, series)
  }

  readEntryDocument(at: EntryAddress): string | undefined {
    return this.#entries.document(at)
  }

  /** Reading costs no more than a cache would. */
  cachedEntryDocument(at: EntryAddress): string | undefined {
    return this.#entries.document(at)
  }

  async appliedOffset(space: string, partition: number): Promise<number> {
    this.#turn.renew()
    return readPartitionHead(this.#store, partitionPart(space, partition)).fence
  }

  async readMarks(
    space: string,
    partition: number,
    ids: readonly string[],
  ): Promise<(number | undefined)[]> {
    this.#turn.renew()
    return readMarks(this.#store, partitionPart(space, partition), ids)
  }

  async claimMarks(claim: MarkClaim): Promise<readonly number[] | 'incomplete'> {
    return await this.#atomically(() => claimMarks(this.#store, claim))
  }

  async apply(batch: CounterBatch): Promise<'applied' | 'fenced'> {
    const outcome = await this.#atomically(() => {
      const applied = applyBatch(this.#store, this.#subjects, batch)
      if (applied === 'applied') settle(this.#store, batch, batch.settled ?? [], Date.now())
      return applied
    })
    if (outcome === 'applied') this.#wake()
    return outcome
  }

  async beginRestore(space: string, partition: number): Promise<string> {
    return await this.#atomically(() => beginPartitionRestore(this.#store, space, partition))
  }

  async restore(step: RestoreStep): Promise<SpansNotTaken | 'fenced'> {
    return await this.#atomically(() => restore(this.#store, this.#subjects, step))
  }

  async finishRestore(finish: RestoreFinish): Promise<'restored' | 'fenced'> {
    const outcome = await this.#atomically(() => finishRestore(this.#store, finish))
    if (outcome === 'restored') this.#wake()
    return outcome
  }

  /** Wakes readers that wait for a batch. */
  #wake(): void {
    this.#notifier?.notify(applyChannel)
    this.#wakeUps.wake()
  }

  canReserve(): boolean {
    return !this.#isReader
  }

  async reserve(request: ReserveRequest): Promise<ReserveOutcome> {
    checkReserveRequest(request)
    for (;;) {
      const outcome = await this.#atomically(() => reserve(this.#store, request, Date.now()))
      if (outcome !== 'again') return outcome
    }
  }

  async reserveBatch(
    requests: readonly ReserveRequest[],
    mode: BatchMode,
  ): Promise<readonly ReserveOutcome[] | 'behind'> {
    checkReserveBatch(requests)
    for (;;) {
      const act = () => reserveBatch(this.#store, requests, mode, Date.now())
      const outcomes = await this.#atomically(act)
      if (outcomes !== 'again') return outcomes
    }
  }

  async extendReservation(extension: ReservationExtension): Promise<ExtendOutcome> {
    return await this.#atomically(() => extend(this.#store, extension, Date.now()))
  }

  async releaseReservation(
    at: EntryAddress,
    reservationId: string,
    together?: PlaceName,
  ): Promise<boolean> {
    const places = together === undefined ? [at] : [at, { ...at, ...together }]
    return await this.#atomically(() => release(this.#store, places, reservationId, Date.now()))
  }

  async settleReservations({ settled, countedIn, ...at }: SettlementElsewhere): Promise<void> {
    await this.#atomically(() => settle(this.#store, at, settled, Date.now(), countedIn))
  }

  readTaken(query: TakenQuery): TakenReading {
    // The first read opens the snapshot that the other reads share.
    const document = this.#entries.document(query.at)
    const taken = readTaken(this.#store, query, Date.now())
    return taken === 'behind' ? { kind: taken } : { kind: 'taken', document, taken }
  }

  async waitForApply(timeoutMs: number): Promise<void> {
    if (this.#notifier !== undefined) await this.#wakeUps.wait(timeoutMs)
    else await this.#listener.wait(applyChannel, timeoutMs)
    this.#turn.endBriefly()
  }

  async sweep(space: string, partition: number, limits: SweepLimits): Promise<number> {
    const part = partitionPart(space, partition)
    return await this.#atomically(() => {
      const { reservationsExpiredBeforeMs, keysMax } = limits
      const swept = sweepReservations(this.#store, part, reservationsExpiredBeforeMs, keysMax)
      return swept + this.#sweeper.sweep(part, { ...limits, keysMax: keysMax - swept })
    })
  }

  /**
   * Runs one transaction. It is visible to every process and durable when this resolves. It is a nested transaction, because only
   * those are rolled back when `act` throws.
   */
  async #atomically<Result>(act: () => Result): Promise<Result> {
    const result = await commit(this.#store, () => this.#store.childTransaction(act))
    this.#turn.end()
    return result
  }

  lives(): Promise<string> {
    return this.incarnation()
  }

  lostBetween(then: string, now: string): Loss {
    return then === now ? () => false : 'everything'
  }

  async incarnation(): Promise<string> {
    this.#turn.renew()
    return readEnvironmentId(this.#store)
  }

  /** Always resolves: there are no replicas, and writes go to the local disk. */
  checkReplicas(): Promise<void> {
    return Promise.resolve()
  }

  async ping(): Promise<void> {
    this.#turn.renew()
    this.#store.getBinary(hotKey(keySpaces.document, textPart('ping')))
  }

  async close(): Promise<void> {
    this.#listener.close()
    this.#wakeUps.wake()
    if (this.#notifier !== undefined) {
      await releaseClaim(this.#store, this.#notifier)
      await this.#notifier.close()
    }
    await this.#store.close()
  }
}

function documentKey(key: string): Buffer {
  return hotKey(keySpaces.document, textPart(key))
}
