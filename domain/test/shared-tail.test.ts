import { readSettings } from '@tollgate/platform/config/settings'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { windowId, type Entitlement } from '@tollgate/schemas/hot-state/documents'
import { subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { countingWindows } from '../src/entitlements/counting-windows.ts'
import { readCountedUsage } from '../src/entitlements/counted-usage-reader.ts'
import { TailBusyError } from '../src/entitlements/usage-behind-error.ts'
import { bytesPerRecordMost } from '../src/entitlements/tail-chunk.ts'
import { createTailParts } from '../src/entitlements/tail-parts.ts'
import { tailSettings } from '../src/entitlements/tail-settings.ts'
import type { UsageParts, UsageQuery } from '../src/entitlements/usage-query.ts'
import { encoded, usageEvent } from './usage-event.ts'
import { UsageStores } from './usage-stores.ts'

const topic = usageTopic('sandbox')
const start = 1_750_000_000
const window = windowId('pur_A', start)

const query: UsageQuery = {
  environment: 'sandbox',
  providerId: 'prv_A',
  customerRef: 'customer-0',
  productRef: 'prd_A',
  meterName: 'requests',
  waitMs: 300,
  tailRecordsMax: 1_000_000,
}

let stores: UsageStores
let recordsRead: number
let waits: number

beforeEach(async () => {
  recordsRead = 0
  waits = 0
  stores = await UsageStores.open()
  for (const name of ['customer-0', 'customer-1']) await publish(name)
})

afterEach(() => stores.close())

/** The real parts, with counters of their calls. */
function open(settings: Readonly<Record<string, string>> = {}): UsageParts {
  const read: EventLog['read'] = async (...at) => {
    const records = await stores.log.read(...at)
    recordsRead += records.length
    return records
  }
  const waitForApply: HotState['waitForApply'] = (timeoutMs) => {
    waits += 1
    return stores.hotState.waitForApply(timeoutMs)
  }
  const parts = {
    log: counted(stores.log, { read }),
    hotState: counted(stores.hotState, { waitForApply }),
  }
  return { ...parts, ...createTailParts(parts, readSettings(tailSettings, settings)) }
}

function counted<Part extends object>(part: Part, calls: Partial<Part>): Part {
  return new Proxy(part, {
    get(target, name) {
      const own: unknown = Reflect.get(name in calls ? calls : target, name, target)
      return typeof own === 'function' ? (own.bind(target) as unknown) : own
    },
  })
}

async function publish(customerRef: string): Promise<void> {
  const entitlement: Entitlement = {
    customerRef,
    purchaseRef: 'pur_A',
    planRef: 'pln_A',
    planType: 'recurring',
    endsAtMs: null,
    cap: '10000000',
    credit: null,
    firstPeriodStartSecond: start,
    periods: [{ startSecond: start, endSecond: start + 1000 }],
    customerRefs: [customerRef],
  }
  await stores.hotState.putEntry(
    { space: 'sandbox', partition: 0, subject: subjectKey('prv_A', customerRef), scope: 'prd_A' },
    { version: 1, document: JSON.stringify(entitlement), windows: countingWindows(entitlement) },
  )
}

/** Appends records of 1 unit each for as many customers, with the keys in `keys` if given. */
async function record(count: number, customers = 2, keys?: string): Promise<void> {
  const values = Array.from({ length: count }, (_, index) =>
    encoded(
      usageEvent({
        id: keys === undefined ? `usage_${index}` : `usage_${keys}_${index}`,
        customerRef: `customer-${index % customers}`,
        timestamp: (start + (index % 1_000)) * 1_000,
        receivedAt: start * 1_000,
        idempotencyKey: keys === undefined ? null : `${keys}-${index}`,
      }),
    ),
  )
  const records = values.map((value) => ({ partition: 0, value }))
  await stores.log.appendAll(topic, records, start * 1_000)
}

async function usedUnits(parts: UsageParts, more: Partial<UsageQuery> = {}): Promise<number> {
  const { amounts } = await readCountedUsage(parts, { ...query, ...more })
  return Number((amounts.get(window) ?? 0n) / 1_000_000n)
}

describe('the shared tail of the log', () => {
  it('is read once for all callers, and continued for later ones', async () => {
    await record(6_000)
    const parts = open()
    const customers = Array.from({ length: 40 }, (_, index) => `customer-${index % 2}`)
    const used = await Promise.all(
      customers.map((customerRef) => usedUnits(parts, { customerRef })),
    )
    expect(used).toEqual(customers.map(() => 3_000))
    expect(recordsRead).toBe(6_000)

    await record(10)
    expect(await usedUnits(parts)).toBe(3_005)
    expect(recordsRead).toBe(6_010)
  })

  it('is used at once after the counters were seen to stand still', async () => {
    await record(10)
    const parts = open()
    expect(await usedUnits(parts)).toBe(5)
    const waitsOfFirst = waits
    for (let check = 0; check < 20; check += 1) expect(await usedUnits(parts)).toBe(5)
    expect(waits).toBe(waitsOfFirst)
  })

  it('stops reading when all callers are gone, and continues from there for the next one', async () => {
    await record(6_000)
    const parts = open()
    const leaving = usedUnits(parts, {
      caller: {
        get isGone() {
          return recordsRead > 2_000
        },
      },
    })
    await expect(leaving).rejects.toBeInstanceOf(TailBusyError)
    expect(recordsRead).toBeLessThan(4_000)
    expect(await usedUnits(parts)).toBe(3_000)
    expect(recordsRead).toBe(6_000)
  })

  it('uses memory by the number of its records, whatever they contain', async () => {
    await record(20_000, 20_000, 'a')
    const parts = open()
    expect(await usedUnits(parts)).toBe(1)
    const chunkBytesAtFirst = 8_192
    expect(parts.tails.bytes).toBeLessThan(
      20_000 * (bytesPerRecordMost + chunkBytesAtFirst / 1_024),
    )
  })

  it('is refused if it exceeds its memory limit', async () => {
    await record(40_000, 40_000, 'a')
    const parts = open({ TOLLGATE_TAIL_BYTES_MAX: '1048576' })
    await expect(usedUnits(parts)).rejects.toBeInstanceOf(TailBusyError)
    expect(parts.tails.bytes).toBeLessThan(2 * 1_048_576)
  })

  it('counts a key once that is repeated long after its first use', async () => {
    await record(5_000, 2, 'a')
    await record(5_000, 2, 'a')
    expect(await usedUnits(open())).toBe(2_500)
  })

  it('drops records that the counters have applied, and restarts if the counters were lost', async () => {
    await record(5_000)
    const parts = open()
    expect(await usedUnits(parts)).toBe(2_500)
    const bytes = parts.tails.bytes
    const batch = { space: 'sandbox', partition: 0, marks: [], increments: [] }
    await stores.hotState.apply({ ...batch, expectedOffset: 0, nextOffset: 4_990 })
    expect(await usedUnits(parts)).toBe(5)
    expect(parts.tails.bytes).toBeLessThan(bytes / 2)

    await stores.loseHotState()
    for (const name of ['customer-0', 'customer-1']) await publish(name)
    // The same process continues, and its connection finds the empty hot state.
    const { tails, progress } = parts
    expect(await usedUnits({ ...open(), tails, progress })).toBe(2_500)
  })
})
