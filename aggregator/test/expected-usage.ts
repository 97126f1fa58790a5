import { setTimeout as sleep } from 'node:timers/promises'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { Environment } from '@tollgate/schemas/environment'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'

/** What a set of events must come to, by the dullest means: the first record of an id is the record. */
export class ExpectedUsage {
  readonly #ids = new Set<string>()
  /** Micros of what counts, by customer. */
  readonly counted = new Map<string, bigint>()
  storedTotal = 0
  countedSum = 0n
  countedTotal = 0

  add(events: readonly MeterEvent[]): void {
    for (const event of events) {
      if (this.#ids.has(event.id)) continue
      this.#ids.add(event.id)
      this.storedTotal++
      if (event.outcome !== 'success') continue
      const { customerRef } = event
      this.countedTotal++
      this.countedSum += BigInt(event.value)
      this.counted.set(customerRef, (this.counted.get(customerRef) ?? 0n) + BigInt(event.value))
    }
  }
}

/** A window from the beginning to the end of time, so that everything a subject ever used is in one amount. */
export async function openWindows(
  hotState: HotState,
  partitionCount: number,
  providerId: string,
  customerRefs: Iterable<string>,
): Promise<void> {
  for (const customerRef of customerRefs) {
    await hotState.putEntry(addressOf(partitionCount, providerId, customerRef), {
      version: 1,
      document: '{}',
      windows: [{ id: 'all', fromSecond: 0, toSecond: 4_102_444_800 }],
    })
  }
}

export async function readCounted(
  hotState: HotState,
  partitionCount: number,
  providerId: string,
  customerRefs: Iterable<string>,
): Promise<Map<string, bigint>> {
  const counted = new Map<string, bigint>()
  for (const customerRef of customerRefs) {
    const at = addressOf(partitionCount, providerId, customerRef)
    const { amounts } = await hotState.readEntry(at, 'requests')
    counted.set(customerRef, amounts.get('all') ?? 0n)
  }
  return counted
}

function addressOf(partitionCount: number, providerId: string, customerRef: string) {
  const subject = subjectKey(providerId, customerRef)
  const partition = partitionOf(subject, partitionCount)
  return { space: 'sandbox', partition, subject, scope: 'prd_all' }
}

export type Stored = {
  /** Rows as they lie there, before any merge. */
  readonly rowTotal: number
  readonly idTotal: number
  readonly countedSum: bigint
  readonly rollUpSum: bigint
  readonly rollUpRecords: number
}

export async function readStored(store: UsageStore, environment: Environment): Promise<Stored> {
  const [row] = await store.query<Record<string, string>>(`
    SELECT count() AS rows, uniqExact(id) AS ids,
      toString(sumIf(toInt128(value * 1000000), outcome = 'success')) AS counted,
      (SELECT toString(sum(toInt128(value * 1000000))) FROM ${environment}.usage_by_hour) AS roll_up,
      (SELECT sum(records) FROM ${environment}.usage_by_hour) AS roll_up_records
    FROM ${environment}.usage_records`)
  return {
    rowTotal: Number(row!['rows']),
    idTotal: Number(row!['ids']),
    countedSum: BigInt(row!['counted']!),
    rollUpSum: BigInt(row!['roll_up']!),
    rollUpRecords: Number(row!['roll_up_records']),
  }
}

/** Waits until at least `rowTotal` rows lie in the table, then gives a late double a moment to show itself. */
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
