import { setTimeout as sleep } from 'node:timers/promises'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { Environment } from '@tollgate/schemas/environment'
import {
  walletScope,
  walletSeries,
  walletSubject,
  walletWindow,
} from '@tollgate/schemas/hot-state/wallets'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import { expect } from 'vitest'
import { partitionCount, type Installation } from './installation.ts'

/** The expected result of a set of events, computed in the simplest way: the first record of an id counts. */
export class ExpectedUsage {
  readonly #ids = new Set<string>()
  /** Counted micros of the meter of requests by customer. */
  readonly counted = new Map<string, bigint>()
  /** Counted micros of the meter `tokens` by customer. */
  readonly tokens = new Map<string, bigint>()
  /** Debits of wallets by customer. */
  readonly debited = new Map<string, bigint>()
  debitedSum = 0n
  /** Number of rows: one for each meter on which a record counts. */
  storedTotal = 0
  countedSum = 0n
  countedTotal = 0

  /** Number of records. */
  get idTotal(): number {
    return this.#ids.size
  }

  add(events: readonly MeterEvent[]): void {
    for (const event of events) {
      if (this.#ids.has(event.id)) continue
      this.#ids.add(event.id)
      const { customerRef, meterName, value, counts } = event
      const all = meterName === '' ? counts : [{ meterName, value }, ...counts]
      const rowTotal = Math.max(1, all.length)
      this.storedTotal += rowTotal
      if (event.outcome !== 'success') continue
      this.countedTotal += rowTotal
      for (const count of all) {
        this.countedSum += BigInt(count.value)
        const sums = { requests: this.counted, tokens: this.tokens }[count.meterName]
        sums?.set(customerRef, (sums.get(customerRef) ?? 0n) + BigInt(count.value))
      }
      if (event.debit === null) continue
      this.debitedSum += BigInt(event.debit)
      this.debited.set(customerRef, (this.debited.get(customerRef) ?? 0n) + BigInt(event.debit))
    }
  }
}

/** Creates a window of all time, so that one amount contains everything that a subject ever used. */
export async function openWindows(
  hotState: HotState,
  customerRefs: Iterable<string>,
): Promise<void> {
  for (const customerRef of customerRefs) {
    await hotState.putEntry(addressOf(customerRef), {
      version: 1,
      document: '{}',
      windows: [{ id: 'all', fromSecond: 0, toSecond: 4_102_444_800 }],
    })
    const wallet = { version: 1, document: '{}', windows: [walletWindow] }
    await hotState.putEntry(walletOf(customerRef), wallet)
  }
}

/** Waits until the log is counted and stored, and compares both exactly with the expected result. */
export async function expectExactlyOnce(
  { log, hotState, clickhouse }: Installation,
  expected: ExpectedUsage,
  customerRefs: readonly string[],
  timeoutMs: number,
): Promise<void> {
  await untilCounted(log, hotState, timeoutMs)
  const stored = await untilStored(clickhouse.store, expected.storedTotal, timeoutMs)
  for (const [meterName, sums] of [
    ['requests', expected.counted],
    ['tokens', expected.tokens],
  ] as const) {
    expect(await readCounted(hotState, customerRefs, meterName)).toEqual(
      new Map(customerRefs.map((ref) => [ref, sums.get(ref) ?? 0n])),
    )
  }
  expect(await readDebited(hotState, customerRefs)).toEqual(
    new Map(customerRefs.map((ref) => [ref, expected.debited.get(ref) ?? 0n])),
  )
  expect(stored).toEqual({
    rowTotal: expected.storedTotal,
    idTotal: expected.idTotal,
    countedSum: expected.countedSum,
    rollUpSum: expected.countedSum,
    rollUpRecords: expected.countedTotal,
    debitedSum: expected.debitedSum,
    debitsSum: expected.debitedSum,
  })
}

async function readCounted(
  hotState: HotState,
  customerRefs: Iterable<string>,
  meterName: string,
): Promise<Map<string, bigint>> {
  const counted = new Map<string, bigint>()
  for (const customerRef of customerRefs) {
    const { amounts } = await hotState.readEntry(addressOf(customerRef), meterName)
    counted.set(customerRef, amounts.get('all') ?? 0n)
  }
  return counted
}

async function readDebited(
  hotState: HotState,
  customerRefs: Iterable<string>,
): Promise<Map<string, bigint>> {
  const debited = new Map<string, bigint>()
  for (const customerRef of customerRefs) {
    const { amounts } = await hotState.readEntry(walletOf(customerRef), walletSeries)
    debited.set(customerRef, amounts.get(walletWindow.id) ?? 0n)
  }
  return debited
}

function walletOf(customerRef: string) {
  const subject = walletSubject('prov_1', customerRef)
  return { ...addressOf(customerRef), subject, scope: walletScope }
}

function addressOf(customerRef: string) {
  const subject = subjectKey('prov_1', customerRef)
  const partition = partitionOf(subject, partitionCount)
  return { space: 'sandbox', partition, subject, scope: 'prd_all' }
}

type Stored = {
  /** Number of rows in the table before any merge. */
  readonly rowTotal: number
  readonly idTotal: number
  readonly countedSum: bigint
  readonly rollUpSum: bigint
  readonly rollUpRecords: number
  readonly debitedSum: bigint
  /** Sum of the table that a view fills. */
  readonly debitsSum: bigint
}

export async function readStored(store: UsageStore, environment: Environment): Promise<Stored> {
  const [row] = await store.query<Record<string, string>>(`
    SELECT count() AS rows, uniqExact(id) AS ids,
      toString(sumIf(toInt128(value * 1000000), outcome = 'success')) AS counted,
      (SELECT toString(sum(toInt128(value * 1000000))) FROM ${environment}.usage_by_hour) AS roll_up,
      (SELECT sum(records) FROM ${environment}.usage_by_hour) AS roll_up_records,
      toString(sum(toInt128(debit * 1000000))) AS debited,
      (SELECT toString(sum(toInt128(debit * 1000000))) FROM ${environment}.credit_debits) AS debits
    FROM ${environment}.usage_records`)
  return {
    rowTotal: Number(row!['rows']),
    idTotal: Number(row!['ids']),
    countedSum: BigInt(row!['counted']!),
    rollUpSum: BigInt(row!['roll_up']!),
    rollUpRecords: Number(row!['roll_up_records']),
    debitedSum: BigInt(row!['debited']!),
    debitsSum: BigInt(row!['debits']!),
  }
}

/** Waits until at least `rowTotal` rows are in the table, then waits a moment for a late duplicate. */
export async function untilStored(
  store: UsageStore,
  rowTotal: number,
  timeoutMs: number,
): Promise<Stored> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const stored = await readStored(store, 'sandbox')
    if (stored.rowTotal >= rowTotal) {
      await sleep(200)
      return await readStored(store, 'sandbox')
    }
    if (Date.now() > deadline) throw new Error(`only ${stored.rowTotal} of ${rowTotal} rows stored`)
    await sleep(50)
  }
}

export async function untilCounted(
  log: EventLog,
  hotState: HotState,
  timeoutMs: number,
): Promise<void> {
  const topic = usageTopic('sandbox')
  const deadline = Date.now() + timeoutMs
  for (let partition = 0; partition < log.partitionCount(topic); partition++) {
    while (
      (await hotState.appliedOffset('sandbox', partition)) < (await log.head(topic, partition))
    ) {
      if (Date.now() > deadline) throw new Error(`partition ${partition} is not counted in time`)
      await sleep(20)
    }
  }
}
