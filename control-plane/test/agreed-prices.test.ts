import { expect, test } from 'vitest'
import type { ActivateResponse } from '@tollgate/schemas/http/activate'
import type { OverridesBody } from '@tollgate/schemas/http/overrides'
import type { PlanBody } from '@tollgate/schemas/http/plans'
import {
  call,
  createCustomer,
  open,
  pageOf,
  plans,
  productRef,
  purchasesOf,
  stack,
  take,
  tenant,
  useCheckoutPages,
} from './checkout-pages.ts'

/* Prices that a provider agrees with a customer, and ramps of plans: what is refused, and what customers see before they buy. */

useCheckoutPages()

const pathOf = (customerRef: string) =>
  `/v1/ui/customers/${customerRef}/products/${productRef}/overrides`

const agree = (customerRef: string, prices: readonly object[]) =>
  call<OverridesBody>('PUT', pathOf(customerRef), { prices })

async function pathsOfFaults(method: string, path: string, body: object): Promise<unknown> {
  const answer = await stack.call<{ errors: { path: unknown[] }[] }>(
    ...[tenant.sandboxKey, method, path, body],
  )
  return [answer.status, answer.body.errors.map((each) => each.path.join('.'))]
}

const plansPath = () => `/v1/sdk/products/${productRef}/plans`

async function planPage(customerRef: string, plan: string): Promise<string> {
  const opened = await open(customerRef)
  return pageOf(`${opened.path}?plan=${plan}`, opened.cookie)
}

const activate = (customerRef: string, planRef: string) =>
  call<ActivateResponse>('POST', '/v1/sdk/activate', { customerRef, productRef, planRef })

test('a customer sees and pays the agreed price, and no other customer does', async () => {
  const planRef = plans['paid']!
  const [customerRef, other] = [await createCustomer(), await createCustomer()]
  const prices = [{ planRef, price: 300, until: '2026-05-01T00:00:00.000Z' }]
  const stored = prices.map((price) => ({ ...price, currency: 'USD' }))
  expect((await agree(customerRef, prices)).prices).toEqual(stored)
  expect((await call<OverridesBody>('GET', pathOf(customerRef))).prices).toEqual(stored)
  const page = await planPage(customerRef, planRef)
  expect(page).toContain('$3.00 / month')
  expect(page).toContain('From May 1, 2026: $5.00 / month')
  const list = await open(customerRef)
  expect(await pageOf(list.path, list.cookie)).toContain('$3.00 / month')
  const ofOther = await planPage(other, planRef)
  expect(ofOther).toContain('$5.00 / month')
  expect(ofOther).not.toContain('$3.00')
  for (const [name, amount] of [
    [customerRef, 300],
    [other, 500],
  ] as const) {
    const request = { customerRef: name, productRef, planRef }
    const { sessionId } = await call<{ sessionId: string }>(
      ...(['POST', '/v1/sdk/checkout-sessions', request] as const),
    )
    const [session] = await stack.database.in('sandbox')<{ amount: bigint }[]>`
      select amount from checkout_sessions where session_id = ${sessionId}`
    expect(Number(session!.amount)).toBe(amount)
  }
})

test('an agreed amount stays in its currency when the plan gets another one', async () => {
  const monthly = { type: 'recurring', billingCycle: 'monthly' }
  const add = async (fields: object): Promise<string> =>
    (await call<PlanBody>('POST', plansPath(), { ...monthly, ...fields })).reference
  const planRef = await add({ name: 'Moved', price: 40_000 })
  const customerRef = await createCustomer()
  await agree(customerRef, [{ planRef, price: 30_000 }])
  expect(await planPage(customerRef, planRef)).toContain('$300.00 / month')
  // The currency of new and changed plans is the default currency of the provider, which an operator has changed.
  await stack.database.in('sandbox')`update plans set currency = 'EUR' where reference = ${planRef}`
  expect(await planPage(customerRef, planRef)).toContain('€400.00 / month')
  // The list is refused as it was stored, and is agreed anew without its currency.
  const { prices } = await call<OverridesBody>('GET', pathOf(customerRef))
  expect(await pathsOfFaults('PUT', pathOf(customerRef), { prices })).toEqual([
    400,
    ['prices.0.currency'],
  ])
  const agreed = await agree(customerRef, [{ planRef, price: 50_000 }])
  expect(agreed.prices).toMatchObject([{ price: 50_000, currency: 'EUR' }])
  expect(await planPage(customerRef, planRef)).toContain('€500.00 / month')
})

test('an agreed time that has not come changes nothing before', async () => {
  const planRef = plans['paid']!
  const customerRef = await createCustomer()
  await agree(customerRef, [{ planRef, from: '2026-04-15T00:00:00Z', price: 300 }])
  const page = await planPage(customerRef, planRef)
  expect(page).toContain('$5.00 / month')
  // The price applies to the first period that begins on 15 April or later.
  expect(page).toContain('From May 1, 2026: $3.00 / month')
})

test('a first period that is free starts with a saved card, because later ones are charged', async () => {
  const planRef = plans['paid']!
  const customerRef = await createCustomer()
  await agree(customerRef, [{ planRef, ramp: [{ periods: 2, price: 0 }] }])
  expect(await activate(customerRef, planRef)).toMatchObject({ status: 'payment_required' })
  expect(await purchasesOf(customerRef)).toEqual([])
  const page = await planPage(customerRef, planRef)
  expect(page).toContain('From May 1, 2026: $5.00 / month')
  // A free plan cannot get an agreed price. A limit check may start a free plan, so it never starts a plan that is charged.
  expect(
    await pathsOfFaults('PUT', pathOf(customerRef), {
      prices: [{ planRef: plans['free'], price: 900 }],
    }),
  ).toEqual([400, ['prices.0.price']])
})

test('a trial before a period that is free starts with a saved card, whatever is posted', async () => {
  const planRef = plans['trial']!
  const customerRef = await createCustomer()
  await agree(customerRef, [{ planRef, ramp: [{ periods: 1, price: 0 }] }])
  const opened = await open(customerRef)
  expect(await take(opened, 'trial', planRef)).toBe(303)
  expect(await purchasesOf(customerRef)).toEqual([])
  await stack.database.in('sandbox')`
    insert into customer_cards values
      (${tenant.providerId}, ${customerRef}, 'visa', '4242', 12, 2030, true, 'pm_4242', now())`
  expect(await take(opened, 'trial', planRef)).toBe(303)
  expect(await purchasesOf(customerRef)).toMatchObject([{ status: 'trialing' }])
})

test('a checkout shows the steps of a ramp, and the price of the next period', async () => {
  const ramp = [
    { periods: 3, price: 10_000 },
    { periods: 3, price: 20_000 },
  ]
  const { reference } = await call<PlanBody>('POST', plansPath(), {
    ...{ name: 'Ramped', type: 'recurring', billingCycle: 'monthly', price: 40_000, ramp },
  })
  expect((await call<PlanBody>('GET', `${plansPath()}/${reference}`)).ramp).toEqual(ramp)
  const page = await planPage(await createCustomer(), reference)
  expect(page).toContain('$100.00 / month')
  expect(page).toContain('From Jun 1, 2026: $200.00 / month')
  expect(page).toContain('From Sep 1, 2026: $400.00 / month')
  const changed = await call<PlanBody>('PUT', `${plansPath()}/${reference}`, { ramp: [] })
  expect(changed.ramp).toEqual([])
  expect(await planPage(await createCustomer(), reference)).toContain('$400.00 / month')
})

test('the list of plans has the prices of the first period that the customer has not had', async () => {
  const ramp = [
    { periods: 1, price: 0 },
    { periods: 1, price: 12_300 },
  ]
  const { reference: planRef } = await call<PlanBody>('POST', plansPath(), {
    ...{ name: 'Taken again', type: 'recurring', billingCycle: 'monthly', price: 40_000, ramp },
  })
  const customerRef = await createCustomer()
  await stack.database.in('sandbox')`
    insert into customer_cards values
      (${tenant.providerId}, ${customerRef}, 'visa', '4242', 12, 2030, true, 'pm_4242', now())`
  expect(await activate(customerRef, planRef)).toMatchObject({ status: 'activated' })
  const [held] = await purchasesOf(customerRef)
  await call('POST', `/v1/sdk/purchases/${held!.reference}/cancel`, {})
  stack.clock.set('2026-04-02T00:00:00Z')
  const opened = await open(customerRef)
  for (const path of [opened.path, `${opened.path}?plan=${planRef}`]) {
    const page = await pageOf(path, opened.cookie)
    expect(page).toContain('$123.00 / month')
    expect(page).toContain('From May 2, 2026: $400.00 / month')
  }
  const ofOther = await open(await createCustomer())
  expect(await pageOf(ofOther.path, ofOther.cookie)).toContain('From May 2, 2026: $123.00 / month')
})

test('refuses prices that would have no effect, by field', async () => {
  const planRef = plans['paid']!
  const path = pathOf(await createCustomer())
  const refused = async (price: object) => pathsOfFaults('PUT', path, { prices: [price] })
  expect(await refused({ planRef: 'pln_none', price: 1_000 })).toEqual([400, ['prices.0.planRef']])
  expect(await refused({ planRef })).toEqual([400, ['prices.0']])
  expect(await refused({ planRef, price: 10 })).toEqual([400, ['prices.0.price']])
  expect(await refused({ planRef, setupFee: 100 })).toEqual([400, ['prices.0.setupFee']])
  expect(await refused({ planRef, creditsPerUnit: 2 })).toEqual([400, ['prices.0.creditsPerUnit']])
  expect(await refused({ planRef: plans['credits'], creditsPerUnit: 2 })).toEqual([
    400,
    ['prices.0.creditsPerUnit'],
  ])
  expect(await refused({ planRef, minimumCommitment: 900 })).toEqual([
    400,
    ['prices.0.minimumCommitment'],
  ])
  expect(await refused({ planRef, ramp: [{ periods: 1, price: 10 }] })).toEqual([
    400,
    ['prices.0.ramp.0.price'],
  ])
  const early = '2026-05-01T00:00:00Z'
  expect(await refused({ planRef, price: 900, from: early, until: early })).toEqual([
    400,
    ['prices.0.until'],
  ])
})

test('refuses a ramp that would have no effect, by field', async () => {
  const refused = (plan: object) => pathsOfFaults('POST', plansPath(), { name: 'Ramped', ...plan })
  const monthly = { type: 'recurring', billingCycle: 'monthly', price: 900 }
  const ramp = [{ periods: 1, price: 500 }]
  expect(await refused({ ...monthly, ramp: [{ periods: 0, price: 500 }] })).toEqual([
    400,
    ['ramp.0.periods'],
  ])
  expect(await refused({ ...monthly, ramp: [{ periods: 1 }] })).toEqual([400, ['ramp.0']])
  expect(await refused({ type: 'one-time', price: 900, ramp })).toEqual([400, ['ramp']])
  expect(await refused({ type: 'recurring', price: 0, ramp })).toEqual([400, ['ramp.0.price']])
  const options = [
    { currency: 'USD', price: 900, default: true },
    { currency: 'EUR', price: 800 },
  ]
  expect(await refused({ ...monthly, pricingOptions: options, ramp })).toEqual([400, ['ramp']])
})
