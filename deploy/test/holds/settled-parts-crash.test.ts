import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { reservationUseText } from '@tollgate/schemas/reservation-reference'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { killCounters, startCounters } from './counters-process.ts'
import { cap, credit, entitlement, HoldStores, other, own } from './hold-stores.ts'
import type { PartToSettle } from './part-to-settle.ts'

/*
 * A process is killed between the effects of a partial settlement: 10 of 40 held units are used. After the restart, exactly 30 are
 * held and 10 are used.
 */

const held = 40
const used = 10
const script = fileURLToPath(new URL('settle-part-until-killed.ts', import.meta.url))

let stores: HoldStores
let counters: ChildProcess | undefined

beforeEach(async () => {
  stores = await HoldStores.open()
})

afterEach(async () => {
  if (counters !== undefined) await killCounters(counters)
  counters = undefined
  await stores.remove()
})

async function settlePartUntilKilled(
  part: Pick<PartToSettle, 'customerRef' | 'reservationId' | 'isPaid' | 'lastEffect'>,
): Promise<void> {
  await stores.close()
  const { dataDir } = stores
  const parameters: PartToSettle = { ...part, dataDir, usageRef: 'usage_part', units: used }
  const node = ['--conditions=source', '--import', 'tsx', script, JSON.stringify(parameters)]
  const child = spawn(process.execPath, node, { stdio: 'inherit' })
  const [, signal] = (await once(child, 'exit')) as [number | null, string | null]
  await stores.reopen()
  expect(signal).toBe('SIGKILL')
}

async function restartCounters(): Promise<void> {
  if (counters !== undefined) await killCounters(counters)
  counters = await startCounters(stores.dataDir)
}

/** Returns the used and held units. A reservation of more than the cap is refused, after it has waited for the counters. */
async function takenUnits(): Promise<number> {
  const { reservation, takenMicros } = await stores.reserve(cap + 1, 60_000)
  expect(reservation).toBeUndefined()
  return Number(takenMicros / 1_000_000n)
}

/** Ends the reservation by its last usage. Everything that it still held must be free then, and nothing else. */
async function expectRestFree(customerRef: string, reservationId: string): Promise<void> {
  await stores.use(customerRef, 5, reservationId)
  await expect.poll(takenUnits).toBe(used + 5)
  expect((await stores.reserve(cap - used - 4, 60_000)).reservation).toBeUndefined()
  expect((await stores.reserve(cap - used - 5, 60_000)).reservation).toBeDefined()
}

describe('a part of a hold that is killed', () => {
  test.each(['credits held', 'logged', 'counted'] as const)(
    'after the effect "%s" leaves the exact rest of units and credits',
    async (lastEffect) => {
      await stores.publishCredits(cap, `${cap}000000`)
      const { id: reservationId } = (await stores.reserve(held, 60_000)).reservation!
      const part = { customerRef: own, reservationId, isPaid: true, lastEffect }
      await settlePartUntilKilled(part)
      if (lastEffect === 'credits held') {
        // The client got no answer and sends the record again. It gets the credits that are held for it.
        const use = reservationUseText(reservationId, false)!
        expect(await stores.takeFor('usage_part', used, use)).toBe(BigInt(used) * credit)
        await stores.use(own, used, use, { id: 'usage_part', debit: `${BigInt(used) * credit}` })
      }
      for (let restarts = 0; restarts < 2; restarts += 1) {
        await restartCounters()
        expect(await takenUnits()).toBe(held)
        expect(await stores.creditsLeft()).toBe(BigInt(cap - held))
      }
      const last = await stores.takeFor('usage_last', 5, reservationId)
      expect(await stores.creditsLeft()).toBe(BigInt(cap - used - 5))
      await stores.use(own, 5, reservationId, { id: 'usage_last', debit: last.toString() })
      await expect.poll(takenUnits).toBe(used + 5)
      expect(await stores.creditsLeft()).toBe(BigInt(cap - used - 5))
    },
  )

  test('returns its own credits alone if its client never comes back', async () => {
    await stores.publishCredits(cap)
    const { id } = (await stores.reserve(held, 60_000)).reservation!
    const use = reservationUseText(id, false)!
    expect(await stores.takeFor('usage_part', used, use, 1_000)).toBe(BigInt(used) * credit)
    await stores.reopenHotState()
    expect(await stores.creditsLeft()).toBe(BigInt(cap - held))
    await expect.poll(() => stores.creditsLeft()).toBe(BigInt(cap - held + used))
    expect(await stores.takeFor('usage_last', held - used, id)).toBe(BigInt(held - used) * credit)
    expect(await stores.creditsLeft()).toBe(BigInt(cap - held + used))
  })

  test.each(['counted', 'reduced'] as const)(
    'after the effect "%s" leaves the exact rest if it is counted in another partition',
    async (lastEffect) => {
      await stores.publish(entitlement, 1)
      const { id: reservationId } = (await stores.reserve(held, 60_000)).reservation!
      await settlePartUntilKilled({ customerRef: other, reservationId, isPaid: false, lastEffect })
      for (let restarts = 0; restarts < 2; restarts += 1) {
        await restartCounters()
        await expect.poll(takenUnits).toBe(held)
      }
      await expectRestFree(other, reservationId)
    },
  )
})
