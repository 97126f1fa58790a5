import type { Database } from '@tollgate/platform/database/database'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { Environment } from '@tollgate/schemas/environment'
import { countsOf, type MeterEvent } from '@tollgate/schemas/meter-event'
import { decodeMeterEvent } from '@tollgate/schemas/meter-event-codec'
import { usageTopic } from '@tollgate/schemas/topics'
import { readTail } from '../source/read-tail.ts'
import type { Source } from '../source/source.ts'
import { listStoredAhead } from '../source/stored-ahead.ts'
import { firstMovedOffset } from '../steps/begin-log.ts'
import type { Target } from '../target/target.ts'

/** Sums of a provider in one environment. Values are 10^-6 units. */
export type ProviderSums = {
  readonly customers: bigint
  readonly purchases: bigint
  readonly records: bigint
  readonly value: bigint
  /**
   * Value of the records that count toward limits. At the target it is read from the roll-up. The source's roll-up is not used,
   * because it may contain duplicates.
   */
  readonly countedValue: bigint
  /** Debits of wallets for these records, in 10^-6 credits. */
  readonly debited: bigint
  /** Number and value of the records that are only in the log. */
  readonly waiting: bigint
  readonly waitingValue: bigint
}

export type ProviderSumName = keyof ProviderSums

/** Sums by provider. The key '' is for records without a known provider. */
export type SumsByProvider = ReadonlyMap<string, ProviderSums>

const nothing: ProviderSums = {
  customers: 0n,
  purchases: 0n,
  records: 0n,
  value: 0n,
  countedValue: 0n,
  debited: 0n,
  waiting: 0n,
  waitingValue: 0n,
}

class Sums {
  readonly byProvider = new Map<string, ProviderSums>()

  add(providerId: string, amounts: Partial<ProviderSums>): void {
    const sums = { ...(this.byProvider.get(providerId) ?? nothing) }
    for (const [name, amount] of Object.entries(amounts)) sums[name as ProviderSumName] += amount
    this.byProvider.set(providerId, sums)
  }
}

export async function sumSource(source: Source, environment: Environment): Promise<SumsByProvider> {
  const sums = new Sums()
  await addDatabase(sums, source.database, environment)
  await addRows(sums, source.usageStore, environment)
  const counted = `${environment}.usage_records FINAL WHERE outcome = 'success'`
  await addCounted(sums, source.usageStore, counted)
  for (const { providerId, value, debit, counts } of await listStoredAhead(source, environment)) {
    const countedValue = counts ? -BigInt(value) : 0n
    const debited = -BigInt(debit)
    sums.add(providerId, { records: -1n, value: -BigInt(value), countedValue, debited })
  }
  for await (const { event } of readTail(source, environment)) {
    const waitingValue = event === undefined ? 0n : valueOf(event)
    sums.add(event?.providerId ?? '', { waiting: 1n, waitingValue })
  }
  return sums.byProvider
}

export async function sumTarget(target: Target, environment: Environment): Promise<SumsByProvider> {
  const sums = new Sums()
  await addDatabase(sums, target.database, environment)
  await addRows(sums, target.usageStore, environment)
  await addCounted(sums, target.usageStore, `${environment}.usage_by_hour`)
  await addLog(sums, target, environment)
  return sums.byProvider
}

async function addDatabase(
  sums: Sums,
  database: Database,
  environment: Environment,
): Promise<void> {
  const sql = database.in(environment)
  const rows = await sql<{ provider_id: string; customers: bigint; purchases: bigint }[]>`
    select provider_id,
      (select count(*) from customers where customers.provider_id = providers.provider_id) as customers,
      (select count(*) from purchases where purchases.provider_id = providers.provider_id) as purchases
    from control.providers`
  for (const { provider_id: providerId, ...counts } of rows) sums.add(providerId, counts)
}

async function addRows(sums: Sums, store: UsageStore, environment: Environment): Promise<void> {
  type Row = { providerId: string; records: string; micros: string; debited: string }
  const rows = await store.query<Row>(
    `SELECT provider_id AS providerId, count() AS records, ${micros('value')} AS micros,
       ${micros('debit')} AS debited
     FROM ${environment}.usage_records FINAL GROUP BY provider_id`,
  )
  for (const row of rows) {
    const [records, value] = [BigInt(row.records), BigInt(row.micros)]
    sums.add(row.providerId, { records, value, debited: BigInt(row.debited) })
  }
}

/** Adds the value of counted records. `from` is SQL: a table with a column `value`, and its filter. */
async function addCounted(sums: Sums, store: UsageStore, from: string): Promise<void> {
  const rows = await store.query<{ providerId: string; micros: string }>(
    `SELECT provider_id AS providerId, ${micros('value')} AS micros FROM ${from}
     GROUP BY provider_id`,
  )
  for (const row of rows) sums.add(row.providerId, { countedValue: BigInt(row.micros) })
}

function micros(column: string): string {
  return `toString(toInt128(sum(${column}) * 1000000))`
}

const readLimits = { recordsMax: 5_000, bytesMax: 4_194_304 }

async function addLog(
  sums: Sums,
  { log, partitionCount }: Target,
  environment: Environment,
): Promise<void> {
  const topic = usageTopic(environment)
  for (let partition = 0; partition < partitionCount(environment); partition += 1) {
    const head = await log.head(topic, partition)
    for (let next = firstMovedOffset; next < head;) {
      for (const { offset, value } of await log.read(topic, partition, next, readLimits)) {
        next = offset + 1
        const { providerId, micros } = readValue(value)
        sums.add(providerId, { waiting: 1n, waitingValue: micros })
      }
    }
  }
}

/** Returns what an event counts on all its meters together. */
function valueOf(event: MeterEvent): bigint {
  return countsOf(event).reduce((sum, { value }) => sum + BigInt(value), 0n)
}

function readValue(value: Uint8Array): { providerId: string; micros: bigint } {
  try {
    const event = decodeMeterEvent(value)
    return { providerId: event.providerId, micros: valueOf(event) }
  } catch {
    return { providerId: '', micros: 0n }
  }
}
