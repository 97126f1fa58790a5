import { applyCorrection } from '@tollgate/control-plane/usage-corrections/apply-correction'
import {
  claimCorrections,
  findCorrection,
  type ClaimedCorrection,
} from '@tollgate/domain/usage-corrections/repository'
import { requestCorrection } from '@tollgate/domain/usage-corrections/request-correction'
import { UsageStoreUnavailableError } from '@tollgate/platform/usage-store/usage-store'
import { beforeEach, expect, test } from 'vitest'
import { applyCorrections, correctionPartsOf } from './apply-corrections.ts'
import { correctionOf } from './correction-of.ts'
import { postPaid, UsageShop } from './usage-shop.ts'

/* A correction that keeps failing is set aside, so that the later ones of its provider do not wait for it. */

const usageShop = new UsageShop()

let first: string
let second: string

/** Requests that a record of a customer is taken away. Returns the reference of the correction. */
async function requestRemoval(units: number): Promise<string> {
  const { runner, shop } = usageShop
  const purchase = await usageShop.buy({ ...postPaid, freeUnits: 0 })
  await usageShop.use(purchase, units, '2026-02-10T00:00:00Z')
  const requested = await runner.within(shop, (work) =>
    requestCorrection(work, correctionOf(purchase, {})),
  )
  if (requested.kind !== 'requested') throw new Error(requested.kind)
  return requested.reference
}

beforeEach(async () => {
  first = await requestRemoval(100)
  second = await requestRemoval(20)
})

function claim(): Promise<ClaimedCorrection[]> {
  const { runner, shop } = usageShop
  const { providerId } = shop
  return claimCorrections(runner.database.in('sandbox'), {
    rowsMax: 9,
    leaseMs: 60_000,
    providerId,
  })
}

/** Claims a correction, and fails to apply it. Returns its reference. */
async function tryInVain(error: Error, retryAfterMs = 3_600_000): Promise<string | undefined> {
  const [claimed] = await claim()
  if (claimed === undefined) return undefined
  const { correctionLimits, ...parts } = correctionPartsOf(usageShop.runner)
  const failing = {
    ...parts,
    appendRecords: () => Promise.reject(error),
    correctionLimits: { ...correctionLimits, triesMax: 3, retryAfterMs },
  }
  await expect(applyCorrection(failing, 'sandbox', claimed, () => false)).rejects.toThrow(error)
  return claimed.correction.reference
}

async function stateOf(reference: string) {
  const { runner, shop } = usageShop
  const sql = runner.database.in('sandbox')
  const correction = await findCorrection(sql, shop.providerId, reference)
  return [correction?.status, correction?.failure, correction?.recordsCorrected]
}

const broken = new Error('the sum has too many digits')

test('later corrections go on after the last try, and the failed one is applied by a retry', async () => {
  for (let tries = 1; tries < 3; tries += 1) expect(await tryInVain(broken)).toBe(first)
  expect(await stateOf(first)).toEqual(['applying', broken.message, 0])
  expect(await tryInVain(broken)).toBe(first)
  expect(await stateOf(first)).toEqual(['failed', broken.message, 0])

  await applyCorrections(usageShop.runner, usageShop.shop.providerId)
  expect(await stateOf(second)).toEqual(['applied', undefined, 1])
  expect(await stateOf(first)).toEqual(['failed', broken.message, 0])

  const sql = usageShop.runner.database.in('sandbox')
  await sql`update usage_corrections set retry_at = clock_timestamp() where reference = ${first}`
  await applyCorrections(usageShop.runner, usageShop.shop.providerId)
  expect(await stateOf(first)).toEqual(['applied', undefined, 1])
})

test('a failed correction is not tried while a later one is being applied', async () => {
  for (let tries = 1; tries <= 3; tries += 1) expect(await tryInVain(broken, 0)).toBe(first)
  const sql = usageShop.runner.database.in('sandbox')
  await sql`update usage_corrections set retry_at = 'infinity' where reference = ${first}`
  expect((await claim()).map(({ correction }) => correction.reference)).toEqual([second])
  await sql`update usage_corrections set retry_at = '-infinity' where reference = ${first}`
  expect(await claim()).toEqual([])
})

test('one correction of a provider is claimed at a time, a failed one last', async () => {
  for (const each of [first, second]) {
    for (let tries = 1; tries <= 3; tries += 1) expect(await tryInVain(broken)).toBe(each)
  }
  const third = await requestRemoval(5)
  const sql = usageShop.runner.database.in('sandbox')
  await sql`update usage_corrections set retry_at = clock_timestamp() where status = 'failed'`
  const behind = new UsageStoreUnavailableError('ClickHouse does not answer')
  expect(await tryInVain(behind)).toBe(third)
  expect([(await stateOf(first))[0], (await stateOf(second))[0]]).toEqual(['failed', 'failed'])
  await applyCorrections(usageShop.runner, usageShop.shop.providerId)
  for (const each of [first, second, third]) {
    expect(await stateOf(each)).toEqual(['applied', undefined, 1])
  }
})

test('a correction waits for a part that is behind, however long it takes', async () => {
  const behind = new UsageStoreUnavailableError('ClickHouse does not answer')
  for (let tries = 1; tries <= 5; tries += 1) expect(await tryInVain(behind)).toBe(first)
  expect(await stateOf(first)).toEqual(['applying', undefined, 0])
})
