import { afterAll, beforeAll, expect, test } from 'vitest'
import { oracleChargePrice } from '../../../domain/test/charge-oracle.ts'
import {
  billedMonthMs,
  dayMs,
  startDocumentedBusiness,
  type DocumentedBusiness,
} from './documented-business.ts'

/* docs/businesses/api.md: every command of the page, and the invoices of two months compared with the oracle of charges. */

let business: DocumentedBusiness

beforeAll(async () => {
  business = await startDocumentedBusiness('api.md', startMs)
})
afterAll(() => business.stop())

/** Some minutes ahead, so that the minute of this test has not passed for hot state on a busy machine. */
const startMs = Date.now() + 200_000

const charge = {
  model: 'graduated',
  included: '10000',
  cap: '500000',
  tiers: [
    { upTo: '40000', price: '0.05' },
    { upTo: null, price: '0.02' },
  ],
} as const

const centsOf = (used: number): number =>
  Number(oracleChargePrice(charge, { used: String(used), carriedOver: '0', before: '0' }).nearest())

test('sells requests with a limit per minute, included units and tiers of overage', async () => {
  const { clock, client } = business
  await business.run('Set the prices')
  const [preview] = await business.run('See what a month costs')
  expect(preview).toMatchObject({ total: 2_500 })
  expect(centsOf(75_000)).toBe(2_500)
  const [, activated] = await business.run('Let a customer start')
  expect(activated).toMatchObject({ status: 'activated' })

  const [check] = await business.run('Serve requests')
  expect(check).toMatchObject({ withinLimits: true, remaining: 60 })
  const [, blocked] = await business.run('Reach the limit per minute')
  expect(blocked).toMatchObject({
    withinLimits: false,
    remaining: 0,
    blockedBy: { reason: 'cap', limit: 'per-minute', meterName: 'requests' },
  })
  const resetsAt = Date.parse(blocked!['resetsAt'] as string)
  expect(resetsAt - clock.now()).toBeGreaterThan(59_000)
  expect(resetsAt - clock.now()).toBeLessThanOrEqual(62_000)
  clock.set(resetsAt)
  const productRef = await business.variable('PRODUCT')
  const named = { customerRef: 'user_1', productRef }
  const checkNow = () => client.require('POST', '/v1/sdk/limits', named)
  expect(await checkNow()).toMatchObject({ withinLimits: true })

  // 60 requests of the page, and these, which reach the last tier by an amount that is not a whole number of cents.
  let used = 60
  for (const [day, units] of [12_345, 31_007, 9_999, 21_111].entries()) {
    clock.set(startMs + (4 + day) * dayMs)
    await client.recordUsage({ ...named, units })
    used += units
  }
  const invoice = await business.invoiceAt(startMs + billedMonthMs)
  expect(invoice).toMatchObject({ total: centsOf(used), lines: [{ amount: centsOf(used) }] })

  const from = new Date(startMs - dayMs).toISOString()
  const to = new Date(startMs + 20 * dayMs).toISOString()
  const path = `/v1/ui/customers/user_1/margin?from=${from}&to=${to}`
  const margin = async () => (await client.send('GET', path)).body
  const amount = centsOf(used)
  await expect.poll(margin, { timeout: 60_000 }).toMatchObject({
    ...{ cost: '0', unpricedCalls: 0, debitedCredits: '0' },
    invoiced: [{ currency: 'USD', amount }],
    margin: String(amount / 100),
  })

  // The next month reaches the cap: usage above it is recorded and not charged.
  clock.set(startMs + 40 * dayMs)
  for (const units of [100_000, 100_000, 100_000, 100_000, 99_999]) {
    await client.recordUsage({ ...named, units })
  }
  await client.recordUsage({ ...named, units: 3 })
  expect(await checkNow()).toMatchObject({ withinLimits: false, blockedBy: { limit: 'requests' } })
  const second = await business.invoiceAt(startMs + 2 * billedMonthMs)
  expect(second).toMatchObject({ total: centsOf(500_002) })
  expect(centsOf(500_002)).toBe(centsOf(500_000))
})
