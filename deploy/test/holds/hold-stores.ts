import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { countingWindows } from '@tollgate/domain/entitlements/counting-windows'
import { createTailParts } from '@tollgate/domain/entitlements/tail-parts'
import { tailSettings } from '@tollgate/domain/entitlements/tail-settings'
import { reserveUsage } from '@tollgate/domain/reservations/reserve-usage'
import { unitsToHold } from '@tollgate/domain/reservations/units-to-hold'
import { holdUsageCredits } from '@tollgate/domain/wallet/hold-usage-credits'
import { walletAddress, walletEntry } from '@tollgate/domain/wallet/hot-wallet'
import { readWallet, spendableMicros } from '@tollgate/domain/wallet/read-wallet'
import { readSettings } from '@tollgate/platform/config/settings'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import { openFileEventLog } from '@tollgate/platform/event-log/files/file-event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { openLmdbHotState } from '@tollgate/platform/hot-state/lmdb/lmdb-hot-state'
import type { Entitlement } from '@tollgate/schemas/hot-state/documents'
import { withoutCounts, type MeterEvent } from '@tollgate/schemas/meter-event'
import { encodeMeterEvent } from '@tollgate/schemas/meter-event-codec'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'

export const environment = 'sandbox'
export const topic = usageTopic(environment)
export const partitionCount = 2
export const providerId = 'prv_1'
const productRef = 'prd_1'
export const cap = 60
export const credit = 1_000_000n
const nowMs = Date.UTC(2026, 0, 15)

export const own = 'cus_1'
/** Another reference of the customer, whose usage is counted in a different partition than the one of its reservations. */
export const other = Array.from({ length: 50 }, (_, number) => `user-${number}`).find(
  (ref) => placeOf(ref).partition !== placeOf(own).partition,
)!

export const entitlement: Entitlement = {
  customerRef: own,
  purchaseRef: 'pur_1',
  planRef: 'pln_1',
  planType: 'recurring',
  endsAtMs: null,
  cap: `${cap}000000`,
  credit: null,
  firstPeriodStartSecond: nowMs / 1000 - 86_400,
  periods: [{ startSecond: nowMs / 1000 - 86_400, endSecond: nowMs / 1000 + 86_400 }],
  customerRefs: [own, other],
}

const wallet = { environment, providerId, customerRef: own } as const

function placeOf(customerRef: string): { subject: string; partition: number } {
  const subject = subjectKey(providerId, customerRef)
  return { subject, partition: partitionOf(subject, partitionCount) }
}

/**
 * The log and hot state of an embedded installation with one customer of the product, and what ingest and the control plane do to
 * them. The counters projection is left to the test.
 */
export class HoldStores {
  readonly dataDir: string
  #log!: EventLog
  #hotState!: HotState
  #usages = 0

  private constructor(dataDir: string) {
    this.dataDir = dataDir
  }

  static async open(dataDir?: string): Promise<HoldStores> {
    const stores = new HoldStores(dataDir ?? (await mkdtemp(join(tmpdir(), 'tollgate-holds-'))))
    await stores.reopen()
    return stores
  }

  get log(): EventLog {
    return this.#log
  }

  get hotState(): HotState {
    return this.#hotState
  }

  async reopen(): Promise<void> {
    this.#log = await openFileEventLog({
      logFolder: join(this.dataDir, 'log'),
      groupsFolder: join(this.dataDir, 'groups'),
      role: 'writer',
      topics: { [topic]: partitionCount, [usageTopic('live')]: partitionCount },
    })
    await this.#openHotState()
  }

  async close(): Promise<void> {
    await this.#log.close()
    await this.#hotState.close()
  }

  async remove(): Promise<void> {
    await this.close()
    await rm(this.dataDir, { recursive: true, force: true })
  }

  /** Opens hot state again, like a process that starts after another one was killed. */
  async reopenHotState(): Promise<void> {
    await this.#hotState.close()
    await this.#openHotState()
  }

  async loseHotState(): Promise<void> {
    await this.#hotState.close()
    await rm(join(this.dataDir, 'hot'), { recursive: true, force: true })
    await this.#openHotState()
  }

  async publish(published: Entitlement, version: number): Promise<void> {
    const entry = {
      version,
      document: JSON.stringify(published),
      windows: countingWindows(published),
    }
    // The own reference is put last, because it is linked first.
    for (const ref of published.customerRefs.toReversed()) {
      const at = { space: environment, ...placeOf(ref), scope: productRef }
      await this.#hotState.putEntry(at, entry)
    }
  }

  /** Publishes a wallet with the given credits, and a plan with 1 credit per unit and the given cap in units, if any. */
  async publishCredits(credits: number, planCap: string | null = null): Promise<void> {
    const plan = { cap: planCap, credit: { creditsPerUnit: 1, currency: 'USD' } }
    await this.publish({ ...entitlement, ...plan }, 5)
    const sums = { grantedMicros: BigInt(credits) * credit, removedMicros: 0n }
    const at = walletAddress(wallet, partitionCount)
    await this.#hotState.putEntry(at, { version: 1, ...walletEntry(sums, []) })
  }

  /** Reserves units with the given hot state. Waits for the counters. */
  async reserve(units: number, ttlMs: number, using: HotState = this.#hotState) {
    const parts = { log: this.#log, hotState: using }
    const tailParts = createTailParts(parts, readSettings(tailSettings, {}))
    const reserved = await reserveUsage(
      { ...parts, ...tailParts },
      {
        environment,
        providerId,
        customerRef: own,
        productRef,
        held: unitsToHold({ units, ttlSeconds: 1 }, undefined),
        ttlMs,
        idempotencyKey: undefined,
        nowMs,
        waitMs: 30_000,
        tailRecordsMax: 1_000,
        reservationsMax: 1_000,
        creditsHeldMax: 1_000,
      },
    )
    if (reserved.kind !== 'decided') throw new Error(`It was not decided but ${reserved.kind}`)
    return reserved
  }

  /** Appends a record of usage like ingest. */
  async use(
    customerRef: string,
    units: number,
    reservationId: string,
    more: Partial<MeterEvent> = {},
  ): Promise<void> {
    const event: MeterEvent = {
      id: `usage_${this.#usages++}`,
      providerId,
      customerRef,
      meterName: 'requests',
      value: units * 1_000_000,
      timestamp: nowMs,
      receivedAt: nowMs,
      productRef,
      purchaseRef: null,
      outcome: 'success',
      source: 'usages',
      idempotencyKey: null,
      properties: '{}',
      reservationId,
      traceParent: null,
      debit: null,
      ...withoutCounts,
      ...more,
    }
    const buffer = Buffer.alloc(1_000)
    const value = buffer.subarray(0, encodeMeterEvent(event, buffer, 0))
    const { partition } = placeOf(customerRef)
    await this.#log.appendAll(topic, [{ partition, value }], event.receivedAt)
  }

  /** Returns the credits of the wallet that nothing holds. */
  async creditsLeft(): Promise<bigint> {
    const parts = { log: this.#log, hotState: this.#hotState }
    return spendableMicros(await readWallet(parts, wallet, 5_000)) / credit
  }

  /** Debits the wallet like ingest before it writes the record. Returns the debit. */
  async takeFor(
    usageRef: string,
    units: number,
    reservationId: string,
    heldMs = 60_000,
  ): Promise<bigint> {
    const due = { ...wallet, usageRef, dueMicros: BigInt(units) * credit, isKeyed: false }
    const limits = { waitMs: 5_000, heldMs, heldMax: 1_000 }
    const parts = { log: this.#log, hotState: this.#hotState }
    return (await holdUsageCredits(parts, { ...due, reservationId }, limits)).heldMicros
  }

  async #openHotState(): Promise<void> {
    // Opened like in the control plane, which waits for the counters.
    const folder = join(this.dataDir, 'hot')
    this.#hotState = await openLmdbHotState({ folder, role: 'publisher' })
  }
}
