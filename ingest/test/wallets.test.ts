import { walletEntry, walletAddress } from '@tollgate/domain/wallet/hot-wallet'
import { readWallet } from '@tollgate/domain/wallet/read-wallet'
import { holdAllUsageCredits } from '@tollgate/domain/wallet/hold-usage-credits'
import { EventLogUnavailableError, type EventLog } from '@tollgate/platform/event-log/event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { walletSubject } from '@tollgate/schemas/hot-state/wallets'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { countUsage, entitlement, productRef, publishEntitlement } from './entitled-customer.ts'
import { Installation, partitionCount, providerId, type Reply } from './installation.ts'

/* Cases that the wallet tests of the deploy workspace cannot cover: the log or the hot state is unavailable. */

const { customerRef } = entitlement
const name = { environment: 'sandbox', providerId, customerRef } as const
const at = walletAddress(name, partitionCount)
const credit = 1_000_000n

let installation: Installation
let key: string
let isLogDown = false

beforeEach(async () => {
  isLogDown = false
  // The time is within the period of the entitlement.
  const clock = { now: () => Date.UTC(2026, 0, 15) }
  installation = await Installation.start({ log: breakable, clock })
  key = await installation.createKey()
  const credited = { creditsPerUnit: 5, currency: 'USD' }
  await publishEntitlement(installation, { cap: null, credit: credited })
  const published = walletEntry({ grantedMicros: 100n * credit, removedMicros: 0n }, [])
  await installation.hotState.putEntry(at, { version: 1, ...published })
})
afterEach(() => installation.remove())

function breakable(log: EventLog): EventLog {
  return new Proxy(log, {
    get(target, property: keyof EventLog) {
      const isAppend = property === 'append' || property === 'appendAll'
      if (isAppend && isLogDown) {
        return () => Promise.reject(new EventLogUnavailableError('the log is down'))
      }
      const value: unknown = Reflect.get(target, property)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}

const use = (more: object = {}): Promise<Reply> =>
  installation.post('/v1/sdk/usages', key, { customerRef: 'user-1', productRef, ...more })

/** Returns the available credits, without those on hold. */
async function left(): Promise<bigint> {
  const wallet = await readWallet(installation, name, 5_000)
  return (wallet.grantedMicros - wallet.spentMicros) / credit
}

it("stores the debit in the record, in the wallet's partition", async () => {
  expect((await use({ units: 3 })).body['creditDebit']).toEqual({
    debited: true,
    amount: 15,
    unitsRemaining: 17,
  })
  const [event] = await installation.eventsOf('sandbox', at.partition, 0)
  expect(event).toMatchObject({ customerRef, debit: '15000000', value: 3_000_000 })
  expect(await left()).toBe(85n)
})

it('holds credits of only few calls while the log is down, and continues when it is back', async () => {
  expect((await use()).status).toBe(200)
  await countUsage(installation)
  isLogDown = true
  const refused = await Promise.all(Array.from({ length: 5 }, () => use()))
  for (let more = 0; more < 20; more += 1) refused.push(await use())
  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]))
  expect(await left()).toBeGreaterThanOrEqual(95n - 5n * 5n)
  // Calls that no wallet pays for still try to append.
  expect((await use({ outcome: 'fail' })).status).toBe(503)
  isLogDown = false
  expect((await use({ outcome: 'fail' })).status).toBe(200)
  await expect.poll(async () => (await use()).status, { timeout: 20_000 }).toBe(200)
})

it('uses the hold of the first attempt for a retry with the same key', async () => {
  isLogDown = true
  expect((await use({ idempotencyKey: 'again' })).status).toBe(503)
  expect(await left()).toBe(95n)
  isLogDown = false
  const retried = async () => (await use({ idempotencyKey: 'again' })).body['creditDebit']
  await expect
    .poll(retried, { timeout: 20_000 })
    .toEqual({ debited: true, amount: 5, unitsRemaining: 19 })
  expect(await left()).toBe(95n)
})

it('refuses only customers whose wallet paid the last time while the entitlements are lost', async () => {
  expect((await use()).status).toBe(200)
  for (const ref of entitlement.customerRefs) {
    await installation.hotState.deleteEntry({ ...placeFor(ref), scope: productRef })
  }
  await installation.publishAll([])
  expect((await use()).status).toBe(503)
  expect((await use({ customerRef: 'user-unknown' })).status).toBe(200)
})

it.each([
  { isKeyed: true, of: 'a call with a key', held: 5n },
  { isKeyed: false, of: 'a call without a key', held: 0n },
])('leaves $held credits of $of on hold when another wallet fails', async ({ isKeyed, held }) => {
  const other = { ...name, customerRef: 'user-2' }
  const failing = new Proxy(installation.hotState, {
    get(target, property: keyof HotState) {
      const value: unknown = Reflect.get(target, property)
      if (typeof value !== 'function') return value
      return (...parameters: unknown[]): unknown => {
        const [first] = parameters as [object]
        const subject = walletSubject(providerId, other.customerRef)
        if ('subject' in first && first.subject === subject) throw new Error('away')
        return Reflect.apply(value, target, parameters) as unknown
      }
    },
  })
  const due = [name, other].map((wallet, index) => {
    return { ...wallet, usageRef: `usage_${index}`, dueMicros: 5n * credit, isKeyed }
  })
  const limits = { waitMs: 1_000, heldMs: 600_000, heldMax: 10 }
  const taking = holdAllUsageCredits({ ...installation, hotState: failing }, due, limits)
  await expect(taking).rejects.toThrow('away')
  expect(await left()).toBe(100n - held)
})

function placeFor(ref: string) {
  const { space, partition } = walletAddress({ ...name, customerRef: ref }, partitionCount)
  return { space, partition, subject: `${providerId.length}:${providerId}${ref}` }
}
