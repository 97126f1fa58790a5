import { afterAll, expect, test, vi } from 'vitest'
import {
  rechargeBeginningsPath,
  type AutoRechargeResponse,
} from '@tollgate/schemas/http/auto-recharge'
import type { BalanceBody } from '@tollgate/schemas/http/credits'
import { openSimulator } from '../../../stripe-simulator/test/simulator-under-test.ts'
import { startStack } from '../stack.ts'
import { eventually } from './payment-stack.ts'

/* Automatic top-ups of wallets that usage empties, with all services, and what the answers to usage report about them. */

/* The timeout allows for a busy machine. */
vi.setConfig({ testTimeout: 120_000 })

const simulator = await openSimulator()
const stack = await startStack({
  settings: {
    TOLLGATE_STRIPE_SANDBOX_URL: simulator.simulator.url,
    TOLLGATE_STRIPE_SANDBOX_SECRET_KEY: 'sk_test_1',
    TOLLGATE_PAYMENTS_INTERVAL_MS: '50',
  },
})
const client = (await stack.createProvider()).sandbox
const productRef = await create('/v1/sdk/products', { name: 'API' })
const plan = { name: 'Credits', type: 'usage-based', billingModel: 'pre-paid' }
const planRef = await create(`/v1/sdk/products/${productRef}/plans`, {
  ...plan,
  creditsPerUnit: 1000,
})
afterAll(async () => {
  await stack.stop()
  await simulator.close()
})

async function call<Body>(method: string, path: string, body?: unknown): Promise<Body> {
  const answer = await client.send(method, path, body)
  if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
  return answer.body as Body
}

async function create(path: string, body: object): Promise<string> {
  return (await call<{ reference: string }>('POST', path, body)).reference
}

const terms = {
  enabled: true,
  triggerType: 'balance',
  currency: 'USD',
  thresholdAmountMajor: 5,
  topupAmountMajor: 20,
}

async function confirm(processorPaymentId: string): Promise<void> {
  const fields = { payment_method: 'pm_card_visa', return_url: 'https://shop.example/back' }
  await fetch(`${simulator.simulator.url}/v1/payment_intents/${processorPaymentId}/confirm`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk_test_1' },
    body: new URLSearchParams(fields),
  })
}

let sequence = 0

/** Creates a customer with 100,000 credits and a saved card, and a top-up of 20 dollars below 5 dollars (50,000 credits). */
async function createCustomerWithTopUps(): Promise<string> {
  sequence += 1
  const customerRef = await create('/v1/sdk/customers', { email: `c${sequence}@example.com` })
  await call('POST', '/v1/sdk/activate', { customerRef, productRef, planRef })
  const topUp = { customerRef, purpose: 'credit_topup', amount: 1000, currency: 'USD' }
  const intents = '/v1/sdk/payment-intents'
  const request = { ...topUp, autoRecharge: terms }
  const opened = await client.send('POST', intents, request, `arm-${sequence}`)
  const { processorPaymentId } = opened.body as { processorPaymentId: string }
  await confirm(processorPaymentId)
  await call('POST', `/v1/sdk/payment-intents/${processorPaymentId}/process`, { customerRef })
  await eventually(async () => {
    const path = `/v1/sdk/auto-recharge?customerRef=${customerRef}`
    const { config } = await call<AutoRechargeResponse>('GET', path)
    expect(config?.status).toBe('active')
  })
  return customerRef
}

async function balance(customerRef: string): Promise<number> {
  const path = `/v1/sdk/customers/${customerRef}/balance`
  return (await call<BalanceBody>('GET', path)).credits
}

type Told = {
  readonly creditDebit: { readonly amount: number; readonly autoRecharge?: { triggered: boolean } }
}

async function use(customerRef: string, units: number): Promise<boolean | undefined> {
  const { creditDebit } = await call<Told>('POST', '/v1/sdk/usages', {
    customerRef,
    productRef,
    units,
  })
  expect(creditDebit.amount).toBe(units * 1000)
  return creditDebit.autoRecharge?.triggered
}

/** Returns the number of automatic top-ups that were begun, whatever their outcome. */
async function topUps(customerRef: string): Promise<number> {
  const [row] = await stack.database.in('sandbox')<[{ count: number }]>`
    select count(*)::int from payment_intents
    where customer_ref = ${customerRef} and original_amount = 2000`
  return row.count
}

/** Enables automatic top-ups again, and waits until the payment job has begun to check the wallet. */
async function enableTopUps(customerRef: string): Promise<void> {
  await call('PUT', '/v1/sdk/auto-recharge', { customerRef, ...terms })
  await eventually(async () => {
    const rows = await stack.database.in('sandbox')`
      select from auto_recharges where customer_ref = ${customerRef} and looked_at is not null`
    expect(rows).toHaveLength(1)
  })
}

/**
 * A usage request does not wait for a slow top-up, and the payment job may begin it first. In both cases no answer reports it, so
 * the test repeats.
 */
test('reports in the response that a debit below the threshold began a top-up', async () => {
  await eventually(async () => expect(await use(await createCustomerWithTopUps(), 60)).toBe(true))
})

test('begins one top-up for concurrent debits below the threshold, reported at most once', async () => {
  const customerRef = await createCustomerWithTopUps()
  expect(await use(customerRef, 40)).toBe(false)
  const triggers = await Promise.all(Array.from({ length: 20 }, () => use(customerRef, 1)))
  expect(triggers.filter((triggered) => triggered === true).length).toBeLessThanOrEqual(1)
  await eventually(async () => expect(await balance(customerRef)).toBe(240_000))
  expect(await topUps(customerRef)).toBe(1)
  expect(await use(customerRef, 1)).toBe(false)

  const events = [100, 89, 1].map((units) => ({ customerRef, productRef, units }))
  const bulk = await call<{ results: Told[] }>('POST', '/v1/sdk/usages/bulk', { events })
  const inBulk = bulk.results.map(({ creditDebit }) => creditDebit.autoRecharge?.triggered)
  expect(inBulk.filter((triggered) => triggered === true).length).toBeLessThanOrEqual(1)
  await eventually(async () => expect(await balance(customerRef)).toBe(249_000))
  expect(await topUps(customerRef)).toBe(2)
})

test('reports no top-up if automatic top-up is off', async () => {
  const customerRef = await createCustomerWithTopUps()
  await call('DELETE', `/v1/sdk/auto-recharge?customerRef=${customerRef}`)
  expect(await use(customerRef, 60)).toBeUndefined()
  expect(await topUps(customerRef)).toBe(0)
})

test('reports why no top-up is begun', async () => {
  const customerRef = await createCustomerWithTopUps()
  const begin = () => call('POST', rechargeBeginningsPath, { customerRef })
  expect(await begin()).toEqual({ triggered: false, reason: 'enough' })
  await call('PUT', '/v1/sdk/auto-recharge', { customerRef, ...terms, maxMonthlySpendMajor: 20 })
  await use(customerRef, 60)
  await eventually(async () => expect(await balance(customerRef)).toBe(240_000))
  await use(customerRef, 200)
  await eventually(async () => {
    expect(await begin()).toEqual({ triggered: false, reason: 'capped' })
  })
  await call('DELETE', `/v1/sdk/auto-recharge?customerRef=${customerRef}`)
  expect(await begin()).toEqual({ triggered: false, reason: 'not_active' })
})

test('charges once if automatic top-up is enabled below the threshold, even by concurrent requests', async () => {
  const customerRef = await createCustomerWithTopUps()
  await call('DELETE', `/v1/sdk/auto-recharge?customerRef=${customerRef}`)
  await use(customerRef, 60)
  const path = '/v1/sdk/auto-recharge'
  await Promise.all([1, 2, 3].map(() => call('PUT', path, { customerRef, ...terms })))
  await eventually(async () => expect(await balance(customerRef)).toBe(240_000))
  // The job checks one wallet after the other, so the first check has ended when the second begins.
  await enableTopUps(customerRef)
  await enableTopUps(customerRef)
  expect(await topUps(customerRef)).toBe(1)
  expect(await balance(customerRef)).toBe(240_000)
})
