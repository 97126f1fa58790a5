import { setImmediate as otherWork } from 'node:timers/promises'
import { readSettings } from '@tollgate/platform/config/settings'
import { type Entitlement, windowId } from '@tollgate/schemas/hot-state/documents'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { countingWindows } from '../src/entitlements/counting-windows.ts'
import { readCountedUsage } from '../src/entitlements/counted-usage-reader.ts'
import { createTailParts } from '../src/entitlements/tail-parts.ts'
import { tailSettings } from '../src/entitlements/tail-settings.ts'
import { UsageBehindError } from '../src/entitlements/usage-behind-error.ts'
import type { UsageParts, UsageQuery } from '../src/entitlements/usage-query.ts'
import { encoded, usageEvent } from './usage-event.ts'
import { UsageStores } from './usage-stores.ts'

const topic = usageTopic('sandbox')
const partitionCount = 8
const start = 1_750_000_000

const entitlement: Entitlement = {
  customerRef: 'cus_a',
  purchaseRef: 'pur_A',
  planRef: 'pln_A',
  planType: 'recurring',
  endsAtMs: null,
  cap: '10000000',
  credit: null,
  firstPeriodStartSecond: start,
  periods: [{ startSecond: start, endSecond: start + 1000 }],
  customerRefs: ['cus_a', 'user-1'],
}
const window = windowId('pur_A', start)

const query: UsageQuery = {
  environment: 'sandbox',
  providerId: 'prv_A',
  customerRef: 'cus_a',
  productRef: 'prd_A',
  meterName: 'requests',
  waitMs: 50,
  tailRecordsMax: 100,
}

let stores: UsageStores
let parts: UsageParts

beforeEach(async () => {
  // Each append gets its own segment, so that a trim leaves only the last one.
  stores = await UsageStores.open({ partitions: partitionCount, segmentBytesMax: 1 })
  const { log, hotState } = stores
  parts = { log, hotState, ...createTailParts({ log, hotState }, readSettings(tailSettings, {})) }
  for (const customerRef of entitlement.customerRefs) await publish(customerRef)
})

afterEach(() => stores.close())

const subjectOf = (customerRef: string) => subjectKey('prv_A', customerRef)
const partitionFor = (customerRef: string) => partitionOf(subjectOf(customerRef), partitionCount)

async function publish(customerRef: string): Promise<void> {
  const partition = partitionFor(customerRef)
  await parts.hotState.putEntry(
    { space: 'sandbox', partition, subject: subjectOf(customerRef), scope: 'prd_A' },
    { version: 1, document: JSON.stringify(entitlement), windows: countingWindows(entitlement) },
  )
}

let nextId = 0

/** Appends one record like ingest does. */
async function record(more: Partial<MeterEvent> = {}): Promise<number> {
  const event = usageEvent({
    id: `usage_${nextId++}`,
    customerRef: 'cus_a',
    timestamp: start * 1000,
    receivedAt: start * 1000,
    ...more,
  })
  const [offset] = await parts.log.appendAll(
    topic,
    [{ partition: partitionFor(event.customerRef), value: encoded(event) }],
    event.receivedAt,
  )
  return offset!
}

/** Moves the counters of a reference to the log's head and adds the amount, like the projection does. */
async function project(customerRef: string, amount: bigint): Promise<void> {
  const partition = partitionFor(customerRef)
  const increment = {
    subject: subjectOf(customerRef),
    scope: 'prd_A',
    series: 'requests',
    second: start,
    amount,
  }
  const outcome = await parts.hotState.apply({
    space: 'sandbox',
    partition,
    expectedOffset: await parts.hotState.appliedOffset('sandbox', partition),
    nextOffset: await parts.log.head(topic, partition),
    marks: [],
    increments: [increment],
  })
  expect(outcome).toBe('applied')
}

describe('readCountedUsage', () => {
  it('returns no usage for a customer without an entitlement', async () => {
    const counted = await readCountedUsage(parts, { ...query, customerRef: 'stranger' })
    expect(counted).toEqual({
      entitlement: undefined,
      amounts: new Map(),
      spans: new Map(),
      source: 'counters',
    })
  })

  it('answers from counters that are up to date, over all references', async () => {
    await record()
    await record({ customerRef: 'user-1' })
    await project('cus_a', 2_000_000n)
    await project('user-1', 3_000_000n)
    for (const customerRef of entitlement.customerRefs) {
      const counted = await readCountedUsage(parts, { ...query, customerRef })
      expect(counted).toEqual({
        entitlement,
        document: JSON.stringify(entitlement),
        amounts: new Map([[window, 5_000_000n]]),
        spans: new Map(),
        source: 'counters',
      })
    }
  })

  it('waits for counters that are behind', async () => {
    await record()
    const counting = readCountedUsage(parts, { ...query, waitMs: 5000 })
    await project('cus_a', 1_000_000n)
    expect(await counting).toMatchObject({
      amounts: new Map([[window, 1_000_000n]]),
      source: 'awaited',
    })
  })

  it('does not wait for records that were acknowledged after it began', async () => {
    const counting = readCountedUsage(parts, { ...query, waitMs: 5000 })
    await record()
    expect(await counting).toMatchObject({ source: 'counters' })
  })

  it('adds the tail of the log if waiting does not help', async () => {
    await record()
    await project('cus_a', 1_000_000n)
    await record()
    await record({ productRef: null, value: 500_000 })
    await record({ customerRef: 'user-1', value: 250_000 })
    await record({ outcome: 'paywall' })
    await record({ productRef: 'prd_other' })
    await record({ meterName: 'tokens' })
    await record({ timestamp: (start - 301) * 1000 })
    await record({ timestamp: (start + 1000) * 1000 })
    await record({ timestamp: (start - 300) * 1000, value: 10 })
    expect(await readCountedUsage(parts, query)).toMatchObject({
      amounts: new Map([[window, 2_750_010n]]),
      source: 'tail',
    })
  })

  it('counts a repeated key once, within the tail and before it', async () => {
    const repeated = { id: 'usage_old', idempotencyKey: 'old' }
    const first = await record(repeated)
    const partition = partitionFor('cus_a')
    await parts.hotState.apply({
      space: 'sandbox',
      partition,
      expectedOffset: 0,
      nextOffset: first + 1,
      marks: [{ id: repeated.id, offset: first, receivedAtMs: start * 1000 }],
      increments: [],
    })
    await record(repeated)
    await record({ id: 'usage_new', idempotencyKey: 'new' })
    await record({ id: 'usage_new', idempotencyKey: 'new' })
    await record({ id: 'usage_failed', idempotencyKey: 'failed', outcome: 'fail' })
    await record({ id: 'usage_failed', idempotencyKey: 'failed' })
    expect((await readCountedUsage(parts, query)).amounts.get(window)).toBe(1_000_000n)
  })

  it('skips a malformed record', async () => {
    await parts.log.append(topic, partitionFor('cus_a'), Buffer.from('nonsense'), start * 1000)
    await record()
    expect((await readCountedUsage(parts, query)).amounts.get(window)).toBe(1_000_000n)
  })

  it('yields to other work while it reads a long tail', async () => {
    const value = Buffer.alloc(1)
    const records = Array.from({ length: 5_000 }, () => ({
      partition: partitionFor('cus_a'),
      value,
    }))
    await parts.log.appendAll(topic, records, start * 1000)
    const long = { ...query, waitMs: 0, tailRecordsMax: 10_000 }
    let isDone = false
    const reading = Promise.resolve(readCountedUsage(parts, long)).finally(() => (isDone = true))
    let turns = 0
    for (; !isDone; turns += 1) await otherWork()
    expect((await reading).source).toBe('tail')
    expect(turns).toBeGreaterThanOrEqual(5)
  })

  it('throws if the counters are too far behind', async () => {
    for (let count = 0; count < 3; count++) await record()
    const counting = readCountedUsage(parts, { ...query, waitMs: 3_600_000, tailRecordsMax: 2 })
    await expect(counting).rejects.toBeInstanceOf(UsageBehindError)
  })

  it('throws if the log has deleted records that the counters need', async () => {
    for (let count = 0; count < 3; count++) await record()
    const partition = partitionFor('cus_a')
    await parts.log.trim(topic, partition, Infinity, [])
    expect(parts.log.oldest(topic, partition)).toBe(2)
    const counting = readCountedUsage(parts, { ...query, waitMs: 3_600_000 })
    await expect(counting).rejects.toBeInstanceOf(UsageBehindError)
  })

  it('sums the windows that the caller names if no entitlement is left', async () => {
    await record()
    await project('cus_a', 1_000_000n)
    const at = {
      space: 'sandbox',
      partition: partitionFor('cus_a'),
      subject: subjectOf('cus_a'),
      scope: 'prd_A',
    }
    await parts.hotState.deleteEntry(at)
    const counted = await readCountedUsage(parts, { ...query, customerRefs: ['cus_a'] })
    expect(counted.entitlement).toBeUndefined()
    expect(counted.amounts.get(window)).toBe(1_000_000n)
  })
})
