import { randomUUID } from 'node:crypto'
import { correctionEvent } from '@tollgate/ingest/domain/correction-events'
import type { AppendRecords } from '@tollgate/control-plane/usage-corrections/append-records'
import { usageColumns } from '@tollgate/aggregator/domain/usage-rows'
import { readDebitPosition } from '@tollgate/domain/wallet/debit-positions'
import { postDebits } from '@tollgate/domain/wallet/post-debits'
import type { HotState, Increment } from '@tollgate/platform/hot-state/hot-state'
import type { TestDatabase } from '@tollgate/platform/testing/embedded-servers'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { walletScope, walletSeries, walletSubject } from '@tollgate/schemas/hot-state/wallets'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { firstNote, writeSinkNote } from '@tollgate/schemas/sink-note'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import type { ManualClock } from '../manual-clock.ts'
import { recordedEvent } from '../recorded-event.ts'
import { environment } from './environment.ts'

export const partitionCount = 2

const storedNote = writeSinkNote(firstNote('lineage'))

/** Usage of a product by a customer, with the debit of its wallet. */
export type Used = {
  readonly providerId: string
  readonly customerRef: string
  readonly productRef: string
  /** 10^-6 units. */
  readonly micros: bigint
  readonly at: Date
  /** Id of the record, under which credits are held. Without it, the record gets a new one. */
  readonly id?: string
  /** Debit of the wallet, in 10^-6 credits. */
  readonly debitMicros?: bigint
}

/** A record of usage or, with negative amounts or a difference, of its correction. */
export type UsedRecord = Omit<Used, 'id'> & {
  readonly event: MeterEvent
  readonly partition: number
  readonly offset: number
  readonly toldAt: Date
}

type LogStores = {
  readonly postgres: Pick<TestDatabase, 'database'>
  readonly hotState: HotState
  readonly usageStore: UsageStore
  readonly clock: ManualClock
}

/**
 * The log of usage together with ingest and the projections, in one step: acknowledged usage is counted, stored and posted. Other
 * tests cover crashes of these services. Here the usage only has to exist for billing.
 */
export class UsageLog {
  readonly records: UsedRecord[] = []
  readonly #stores: LogStores
  readonly #heads = Array.from({ length: partitionCount }, () => 0)
  /** Distinguishes the inserts of concurrent lanes, which share a server that drops inserts with a known token. */
  readonly #name = randomUUID()
  #unstored: UsedRecord[] = []
  /** Ids of the records of corrections, which are appended once. */
  readonly #corrections = new Set<string>()
  /** Number of records, by customer. */
  readonly #counts = new Map<string, number>()
  #last: Promise<unknown> = Promise.resolve()

  constructor(stores: LogStores) {
    this.#stores = stores
  }

  /** Returns the number of the customer's records. */
  countOf(customerRef: string): number {
    return this.#counts.get(customerRef) ?? 0
  }

  partitionCount(): number {
    return partitionCount
  }

  head(_topic: string, partition: number): number {
    return this.#heads[partition]!
  }

  /**
   * Returns the position of the sink. It first stores all pending rows, because readers of stored usage read the position first.
   */
  async position(_group: string, _topic: string, partition: number) {
    const offset = this.#heads[partition]!
    const stored = this.#last.then(() => this.#storeAll())
    this.#last = stored.catch(() => undefined)
    await stored
    return { offset, note: storedNote }
  }

  /** Records usage, one record after the other in the order of the calls. */
  record(used: Used): Promise<void> {
    return this.#append(this.#eventOf(used))
  }

  /** Appends the records of corrections as ingest does. A record that was appended before is dropped. */
  readonly appendCorrections: AppendRecords = async ({ providerId }, records) => {
    for (const record of records) {
      if (this.#corrections.has(record.id)) continue
      this.#corrections.add(record.id)
      await this.#append(correctionEvent(record, providerId, this.#stores.clock.now()))
    }
  }

  #append(event: MeterEvent): Promise<void> {
    const recorded = this.#last.then(() => this.#project(event))
    this.#last = recorded.catch(() => undefined)
    return recorded
  }

  async #project(event: MeterEvent): Promise<void> {
    const { providerId, customerRef, productRef, value, timestamp, debit } = event
    const partition = partitionOf(subjectKey(providerId, customerRef), partitionCount)
    const record: UsedRecord = {
      ...{ event, providerId, customerRef, partition, offset: this.#heads[partition]! },
      productRef: productRef ?? '',
      micros: BigInt(value),
      at: new Date(timestamp),
      toldAt: new Date(this.#stores.clock.now()),
      ...(debit !== null && { debitMicros: BigInt(debit) }),
    }
    await this.#count(record)
    await this.#post(record)
    this.#unstored.push(record)
    this.records.push(record)
    this.#counts.set(customerRef, this.countOf(customerRef) + 1)
    this.#heads[partition] = record.offset + 1
  }

  async #count(record: UsedRecord): Promise<void> {
    const { event, partition, offset, debitMicros = 0n } = record
    await this.#stores.hotState.apply({
      space: environment,
      partition,
      expectedOffset: offset,
      nextOffset: offset + 1,
      marks: [],
      increments: [...incrementsOfUsage(record), ...incrementsOfDebit(record)],
      settled: debitMicros > 0n ? [{ ...walletOf(record), reservationId: event.id }] : [],
    })
  }

  async #storeAll(): Promise<void> {
    const table = `${environment}.usage_records`
    for (let partition = 0; partition < partitionCount; partition++) {
      const own = this.#unstored.filter((record) => record.partition === partition)
      if (own.length === 0) continue
      const rows = own.map((record) => ({ offset: record.offset, event: record.event }))
      const token = `${this.#name}-${partition}-${rows[0]!.offset}-${rows.length}`
      await this.#stores.usageStore.insert(table, usageColumns(partition), rows, token)
    }
    this.#unstored = []
  }

  async #post(record: UsedRecord): Promise<void> {
    const { providerId, customerRef, productRef, debitMicros, partition, offset } = record
    const { postgres, clock } = this.#stores
    const own = { providerId, customerRef, productRef }
    const debits = debitMicros === undefined ? [] : [{ ...own, micros: debitMicros }]
    await postgres.database.in(environment).begin(async (sql) => {
      const fromOffset = await readDebitPosition(sql, partition)
      const batch = { partition, fromOffset, toOffset: offset + 1, debits }
      await postDebits(sql, environment, batch, new Date(clock.now()))
    })
  }

  #eventOf({ id, micros, at, debitMicros, ...named }: Used): MeterEvent {
    const fields = {
      ...named,
      id: id ?? `usage_${randomUUID()}`,
      meterName: requestsMeterName,
      value: Number(micros),
      timestamp: at.getTime(),
      receivedAt: this.#stores.clock.now(),
    }
    return recordedEvent(fields, debitMicros?.toString() ?? null)
  }
}

function walletOf({ providerId, customerRef }: UsedRecord) {
  return { subject: walletSubject(providerId, customerRef), scope: walletScope }
}

function incrementsOfDebit(record: UsedRecord): readonly Increment[] {
  const { debitMicros: amount } = record
  if (amount === undefined) return []
  return [{ ...walletOf(record), series: walletSeries, second: 1, amount }]
}

function incrementsOfUsage(record: UsedRecord): readonly Increment[] {
  const { providerId, customerRef, productRef, micros, at } = record
  if (micros === 0n) return []
  const subject = subjectKey(providerId, customerRef)
  const second = Math.floor(at.getTime() / 1_000)
  return [{ subject, scope: productRef, series: requestsMeterName, second, amount: micros }]
}
