import type { Queryable } from '@tollgate/platform/database/database'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import { decimalFromMicros } from '@tollgate/schemas/quantity'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import { listCurrentReferences, type CustomerKey } from '../customers/repository.ts'
import {
  countingWindows,
  currentPeriod,
  windowOfPeriod,
  type CountingWindow,
} from '../entitlements/counting-windows.ts'
import { UsageBehindError } from '../entitlements/usage-behind-error.ts'
import { entitlementOf } from '../purchases/entitlement-of.ts'
import { listDecidingPurchases, statusesWithAccess } from '../purchases/repository.ts'
import { sumCountedUsage, type CountedReference } from '../stored-usage/sum-counted-usage.ts'
import {
  listUnpublished,
  createRechecker,
  waitUntilAllCounted,
  waitUntilAllStored,
  type CountingParts,
  type CountingRun,
} from './counting-parts.ts'
import type { Tally } from './finding.ts'
import type { Scope } from './scope.ts'

/**
 * Maximum number of customers of one provider that are checked together. Their references are part of the URL of a query, so it
 * must not grow too long.
 */
const customersAtOnce = 200

/** The current period of a purchase. Amounts are 10^-6 units. */
type Counted = {
  readonly providerId: string
  readonly customerRef: string
  readonly purchaseRef: string
  readonly window: CountingWindow
  readonly countedMicros: bigint
  readonly recordedMicros: bigint
  /** Log partitions in which the customer's references are counted. */
  readonly partitions: readonly number[]
}

/**
 * Compares the counters of current periods with the records. Both change all the time, so each counter is read together with its
 * offset in the log and compared with the records before that offset, where they must be equal. Differences are checked again,
 * because a publication may be about to change the counter. Customers with a queued publication are skipped. Throws
 * UsageBehindError while counters are being rebuilt.
 */
export async function reconcileCounters(
  sql: Queryable,
  parts: CountingParts,
  scope: Scope,
  findingsMax: number,
  tally: Tally,
): Promise<void> {
  const countedTo = await waitUntilAllCounted(parts, scope.environment)
  const run: CountingRun = { sql, parts, scope, countedTo }
  const recheck = createRechecker(findingsMax, parts.recheckPauseMs)
  for await (const page of customerPages(sql, scope)) {
    const counted = await readPage(run, page)
    for (const { providerId } of counted) tally.compared(providerId, 'counter')
    const remaining = await recheck(counted.filter(differs), async (suspects) =>
      (await readPage(run, suspects)).filter(differs),
    )
    for (const each of remaining) {
      reportCounter(tally, each)
      for (const partition of each.partitions) tally.canRepair({ kind: 'counts', partition })
    }
  }
}

function differs({ countedMicros, recordedMicros }: Counted): boolean {
  return countedMicros !== recordedMicros
}

function reportCounter(
  tally: Tally,
  { providerId, purchaseRef, window, ...counted }: Counted,
): void {
  tally.found({
    providerId,
    kind: 'counter',
    difference: 'differs',
    reference: purchaseRef,
    ours: `counted ${decimalFromMicros(counted.countedMicros)}`,
    theirs: `recorded ${decimalFromMicros(counted.recordedMicros)}`,
    since: new Date(window.fromSecond * 1000),
    isRepaired: false,
  })
}

/** Yields the customers with access to a product, those of one provider per page. */
async function* customerPages(
  sql: Queryable,
  { providerId, stopping }: Scope,
): AsyncIterable<readonly CustomerKey[]> {
  let after: CustomerKey = { providerId: providerId ?? '', customerRef: '' }
  for (;;) {
    stopping?.throwIfAborted()
    const rows = await sql<{ provider_id: string; reference: string }[]>`
      select provider_id, reference from customers
      where (provider_id, reference) > (${after.providerId}, ${after.customerRef})
        ${providerId === undefined ? sql`` : sql`and provider_id = ${providerId}`}
        and exists (
          select from purchases
          where purchases.provider_id = customers.provider_id
            and customer_ref = customers.reference and plan_ref is not null
            and purchases.status in ${sql(statusesWithAccess)})
      order by provider_id, reference limit ${customersAtOnce}`
    const page = rows
      .filter(({ provider_id }) => provider_id === rows[0]!.provider_id)
      .map((row) => ({ providerId: row.provider_id, customerRef: row.reference }))
    if (page.length === 0) return
    yield page
    after = page.at(-1)!
  }
}

type Window = Omit<Counted, 'countedMicros' | 'recordedMicros' | 'partitions'> & {
  readonly productRef: string
  readonly customerRefs: readonly string[]
}

/** Reads counters and records of customers of one provider. */
async function readPage(run: CountingRun, customers: readonly CustomerKey[]): Promise<Counted[]> {
  const { parts, scope } = run
  const windows = await listRunningWindows(run, customers)
  const counted = await Promise.all(windows.map((window) => readCounters(run, window)))
  // This runs after the counters were read, so that all records before their offsets are stored.
  const stored = await waitUntilAllStored(parts, scope.environment)
  const recorded = await sumCountedUsage(
    parts.usageStore,
    {
      environment: scope.environment,
      providerId: customers[0]!.providerId,
      meterName: requestsMeterName,
    },
    counted.flatMap(({ references }) => references),
    stored,
  )
  let at = 0
  return counted.map(({ references, partitions, countedMicros }, index) => {
    const sums = recorded.slice(at, (at += references.length))
    const recordedMicros = sums.reduce((sum, micros) => sum + micros, 0n)
    return { ...windows[index]!, countedMicros, recordedMicros, partitions }
  })
}

async function listRunningWindows(
  { sql, parts }: CountingRun,
  customers: readonly CustomerKey[],
): Promise<Window[]> {
  const now = parts.now()
  const [references, purchases, unpublished] = await Promise.all([
    listCurrentReferences(sql, customers),
    listDecidingPurchases(sql, customers),
    listUnpublished(sql, customers),
  ])
  return customers.flatMap(({ providerId, customerRef }) => {
    if (unpublished.has(customerRef)) return []
    const customerRefs = references.get(customerRef) ?? [customerRef]
    return (purchases.get(customerRef) ?? []).flatMap((purchase) => {
      const entitlement = entitlementOf(purchase, customerRefs, now)
      const period = entitlement && currentPeriod(entitlement, now.getTime())
      if (entitlement === undefined || period === undefined) return []
      const { purchaseRef } = entitlement
      const id = windowOfPeriod(entitlement, period.startSecond)
      const window = countingWindows(entitlement).find((each) => each.id === id)!
      const { productRef } = purchase
      return [{ providerId, customerRef, purchaseRef, productRef, customerRefs, window }]
    })
  })
}

type Counters = Pick<Counted, 'countedMicros' | 'partitions'> & {
  readonly references: readonly CountedReference[]
}

/** Reads the counters of each reference atomically. Counters of two references may be at different offsets. */
async function readCounters(
  { parts: { eventLog, hotState }, scope: { environment }, countedTo }: CountingRun,
  { providerId, productRef, customerRefs, window }: Window,
): Promise<Counters> {
  const partitionCount = eventLog.partitionCount(usageTopic(environment))
  let countedMicros = 0n
  const references: CountedReference[] = []
  const partitions: number[] = []
  for (const customerRef of customerRefs) {
    const subject = subjectKey(providerId, customerRef)
    const partition = partitionOf(subject, partitionCount)
    const at = { space: environment, partition, subject, scope: productRef }
    const { amounts, appliedOffset } = await hotState.readEntry(at, requestsMeterName)
    const behind = countedTo[partition]! - appliedOffset
    if (behind > 0) throw new UsageBehindError(behind)
    countedMicros += amounts.get(window.id) ?? 0n
    partitions.push(partition)
    references.push({ customerRef, productRef, window, beforeOffset: appliedOffset })
  }
  return { countedMicros, references, partitions }
}
