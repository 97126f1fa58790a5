import { randomUUID } from 'node:crypto'
import { usageColumns } from '@tollgate/aggregator/domain/usage-rows'
import { postDebits, readDebitPosition } from '@tollgate/domain/wallet/post-debits'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type { TestDatabase } from '@tollgate/platform/testing/embedded-servers'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { walletScope, walletSeries, walletSubject } from '@tollgate/schemas/hot-state/wallets'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { decimalFromMicros } from '@tollgate/schemas/quantity'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import type { ManualClock } from '../manual-clock.ts'
import { environment } from './environment.ts'

const partitionCount = 2

/** What a customer used of a product, and what a wallet paid for it. */
export type Used = {
  readonly providerId: string
  readonly customerRef: string
  readonly productRef: string
  /** 10^-6 units. */
  readonly micros: bigint
  readonly at: Date
  /** Taken from the wallet under that name; 10^-6 credits. */
  readonly debit?: { readonly usageRef: string; readonly micros: bigint }
}

export type UsedRecord = Used & {
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
 * The log of usage, with ingest before it and the projections behind it, in one step: what is acknowledged is counted,
 * stored and in the ledger. What their deaths do to usage is told elsewhere; here it is there to be billed.
 */
export class UsageLog {
  readonly records: UsedRecord[] = []
  readonly #stores: LogStores
  readonly #heads = Array.from({ length: partitionCount }, () => 0)
  #last: Promise<unknown> = Promise.resolve()

  constructor(stores: LogStores) {
    this.#stores = stores
  }

  partitionCount(): number {
    return partitionCount
  }

  head(_topic: string, partition: number): number {
    return this.#heads[partition]!
  }

  position(_group: string, _topic: string, partition: number) {
    return Promise.resolve({ offset: this.#heads[partition]!, note: 'stored' })
  }

  /** One after the other, in the order in which they are asked for. */
  record(used: Used): Promise<void> {
    const recorded = this.#last.then(() => this.#project(used))
    this.#last = recorded.catch(() => undefined)
    return recorded
  }

  async #project(used: Used): Promise<void> {
    const { providerId, customerRef } = used
    const partition = partitionOf(subjectKey(providerId, customerRef), partitionCount)
    const toldAt = new Date(this.#stores.clock.now())
    const record = { ...used, partition, offset: this.#heads[partition]!, toldAt }
    await this.#count(record)
    await this.#store(record)
    await this.#post(record)
    this.records.push(record)
    this.#heads[partition] = record.offset + 1
  }

  async #count({ providerId, customerRef, debit, partition, offset }: UsedRecord): Promise<void> {
    const at = { subject: walletSubject(providerId, customerRef), scope: walletScope }
    await this.#stores.hotState.apply({
      space: environment,
      partition,
      expectedOffset: offset,
      nextOffset: offset + 1,
      marks: [],
      increments: debit ? [{ ...at, series: walletSeries, second: 1, amount: debit.micros }] : [],
      settled: debit ? [{ ...at, reservationId: debit.usageRef }] : [],
    })
  }

  async #store(record: UsedRecord): Promise<void> {
    const { partition, offset } = record
    const event = this.#eventOf(record)
    const table = `${environment}.usage_records`
    const columns = usageColumns(partition)
    await this.#stores.usageStore.insert(table, columns, [{ offset, event }], event.id)
  }

  async #post(record: UsedRecord): Promise<void> {
    const { providerId, customerRef, productRef, debit, partition, offset } = record
    const { postgres, clock } = this.#stores
    const debits = debit ? [{ providerId, customerRef, productRef, micros: debit.micros }] : []
    await postgres.database.in(environment).begin(async (sql) => {
      const fromOffset = await readDebitPosition(sql, partition)
      const batch = { partition, fromOffset, toOffset: offset + 1, debits }
      await postDebits(sql, environment, batch, new Date(clock.now()))
    })
  }

  #eventOf({ providerId, customerRef, productRef, micros, at, debit }: UsedRecord): MeterEvent {
    return {
      id: debit?.usageRef ?? `usage_${randomUUID()}`,
      providerId,
      customerRef,
      meterName: requestsMeterName,
      value: Number(micros),
      timestamp: at.getTime(),
      receivedAt: this.#stores.clock.now(),
      productRef,
      purchaseRef: null,
      outcome: 'success',
      source: 'usages',
      idempotencyKey: null,
      properties: '{}',
      reservationId: null,
      traceParent: null,
      debit: debit === undefined ? null : decimalFromMicros(debit.micros),
    }
  }
}
