import { afterAll, describe, expect, test, vi } from 'vitest'
import type { ActivateResponse } from '@tollgate/schemas/http/activate'
import type { LimitsResponse } from '@tollgate/schemas/http/limits'
import type { UsageResponse } from '@tollgate/schemas/http/usages'
import { startStack } from '../stack.ts'
import { openShop, type Offer } from './shop.ts'

/* A client that got an answer finds its change in every later answer, and concurrent requests are decided once. */

const stack = await startStack()
const client = (await stack.createProvider()).sandbox
const shop = openShop(client)
afterAll(() => stack.stop())

const free = { price: 0, limit: 100 }
const byCredits = { type: 'usage-based', billingModel: 'pre-paid', creditsPerUnit: 100 }

const together = <Result>(count: number, act: (at: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: count }, (_, at) => act(at)))

async function holder(plan: object): Promise<Offer & { customerRef: string; purchaseRef: string }> {
  const offer = await shop.sell(plan)
  const customerRef = await shop.newCustomer()
  return { ...offer, customerRef, purchaseRef: await shop.buy(customerRef, offer) }
}

const grant = (customerRef: string, credits: number): Promise<unknown> =>
  shop.post(`/v1/sdk/customers/${customerRef}/credits`, { credits })

const creditsOf = async (customerRef: string): Promise<number> =>
  (await shop.get<{ credits: number }>(`/v1/sdk/customers/${customerRef}/balance`)).credits

describe('reads the effect of a write with the next request:', () => {
  test('a new customer, by every name', async () => {
    const fields = { email: 'seen@acme.example', externalRef: 'user_seen' }
    const reference = await shop.newCustomer(fields)
    const { productRef } = await shop.sell({ ...free, default: true })
    for (const query of [
      `reference=${reference}`,
      'externalRef=user_seen',
      'email=Seen@acme.example',
    ]) {
      expect(await shop.get(`/v1/sdk/customers?${query}`)).toMatchObject({ reference, ...fields })
    }
    expect(await shop.check('user_seen', productRef)).toMatchObject({ remaining: 100 })
  })

  test('an external reference, with its earlier usage', async () => {
    const { customerRef, productRef } = await holder(free)
    await shop.use('user_linked', productRef, 30)
    await shop.patch(`/v1/sdk/customers/${customerRef}`, { externalRef: 'user_linked' })
    expect((await shop.check('user_linked', productRef)).remaining).toBe(70)
    expect((await shop.check(customerRef, productRef)).remaining).toBe(70)
    const found = await shop.get('/v1/sdk/customers?externalRef=user_linked')
    expect(found).toMatchObject({ reference: customerRef })
  })

  test('a plan that is offered, changed and withdrawn', async () => {
    const productRef = await shop.newProduct()
    const customerRef = await shop.newCustomer()
    const offered = async () => (await shop.check(customerRef, productRef)).plans
    expect(await offered()).toEqual([])
    const planRef = await shop.newPlan(productRef, { price: 900 })
    expect(await offered()).toMatchObject([{ reference: planRef, price: 900 }])
    const path = `/v1/sdk/products/${productRef}/plans/${planRef}`
    await shop.put(path, { price: 1100 })
    expect(await offered()).toMatchObject([{ reference: planRef, price: 1100 }])
    await shop.put(path, { hidden: true })
    expect(await offered()).toEqual([])
    await shop.put(path, { hidden: false })
    expect(await offered()).toHaveLength(1)
    await shop.delete(path)
    expect(await offered()).toEqual([])
  })

  test('a default plan, and its removal', async () => {
    const { productRef, planRef } = await shop.sell(free)
    const [first, second] = [await shop.newCustomer(), await shop.newCustomer()]
    expect((await shop.check(first, productRef)).plan).toBe('')
    const path = `/v1/sdk/products/${productRef}/plans/${planRef}`
    await shop.put(path, { default: true })
    expect((await shop.check(first, productRef)).plan).toBe(planRef)
    await shop.put(path, { default: false })
    expect((await shop.check(second, productRef)).plan).toBe('')
  })

  test('a product that is deactivated and activated again', async () => {
    const { productRef } = await shop.sell({ ...free, default: true })
    const [first, second] = [await shop.newCustomer(), await shop.newCustomer()]
    const path = `/v1/sdk/products/${productRef}`
    await shop.put(path, { status: 'inactive' })
    expect((await shop.check(first, productRef)).withinLimits).toBe(false)
    await shop.put(path, { status: 'active' })
    expect((await shop.check(second, productRef)).withinLimits).toBe(true)
  })

  test('an activation, a switch, a cancellation and its end', async () => {
    const { customerRef, productRef, planRef, purchaseRef } = await holder(free)
    expect((await shop.check(customerRef, productRef)).plan).toBe(planRef)
    const other = await shop.newPlan(productRef, { type: 'one-time', price: 0, limit: 7 })
    const switched = await shop.buy(customerRef, { productRef, planRef: other })
    const checked = await shop.check(customerRef, productRef)
    expect(checked).toMatchObject({ plan: other, remaining: 7 })
    expect((await shop.purchase(purchaseRef)).status).toBe('expired')
    await shop.cancel(switched)
    expect((await shop.check(customerRef, productRef)).plan).toBe('')
    expect(await shop.get(`/v1/sdk/customers/${customerRef}`)).toMatchObject({ purchases: [] })
  })

  test('single and bulk usage, and the remaining balance', async () => {
    const { customerRef, productRef, purchaseRef } = await holder(byCredits)
    await grant(customerRef, 500)
    expect(await creditsOf(customerRef)).toBe(500)
    expect(await shop.check(customerRef, productRef)).toMatchObject({ remaining: 5 })
    await shop.use(customerRef, productRef)
    expect(await creditsOf(customerRef)).toBe(400)
    expect(await shop.check(customerRef, productRef)).toMatchObject({
      remaining: 4,
      creditBalance: 400,
    })
    const events = [1, 2].map((units) => ({ customerRef, productRef, units }))
    await shop.post('/v1/sdk/usages/bulk', { events })
    expect(await creditsOf(customerRef)).toBe(100)
    expect((await shop.purchase(purchaseRef)).usage?.used).toBe(4)
    await grant(customerRef, 50)
    expect(await shop.check(customerRef, productRef)).toMatchObject({ remaining: 1 })
  })

  test('usage of a client whose clock is wrong', async () => {
    const { customerRef, productRef } = await holder(free)
    const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString()
    for (const timestamp of [inMinutes(-4), inMinutes(0), inMinutes(23 * 60)]) {
      await shop.post('/v1/sdk/usages', { customerRef, productRef, timestamp })
    }
    // Usage from before the purchase, by more than the tolerated clock error, does not count.
    await shop.post('/v1/sdk/usages', { customerRef, productRef, timestamp: inMinutes(-6) })
    expect((await shop.check(customerRef, productRef)).remaining).toBe(97)
  })

  test('a new meter, and one that is restored', async () => {
    const name = 'gigabytes'
    const event = { customerRef: 'anybody', meterName: name, value: 2 }
    await shop.post('/v1/sdk/meter-events', event, 400)
    const { reference } = await shop.post<{ reference: string }>('/v1/ui/meters', { name }, 201)
    await shop.post('/v1/sdk/meter-events', event)
    const path = `/v1/ui/meters/${reference}`
    await shop.patch(path, { status: 'archived' })
    // Known meters are cached for 1 second, during which usage of an archived meter is still accepted.
    await vi.waitFor(() => shop.post('/v1/sdk/meter-events', event, 400), 20_000)
    const range = 'from=2020-01-01&to=2100-01-01'
    const before = await shop.get<{ total: number }>(`${path}/usage?${range}`)
    await shop.patch(path, { status: 'active' })
    await shop.post('/v1/sdk/meter-events', event)
    expect(await shop.get(`${path}/usage?${range}`)).toMatchObject({ total: before.total + 2 })
  })

  test('automatic top-up that is enabled and disabled', async () => {
    const customerRef = await shop.newCustomer()
    const path = `/v1/sdk/auto-recharge?customerRef=${customerRef}`
    const amounts = { thresholdAmountMajor: 5, topupAmountMajor: 20 }
    const terms = { enabled: true, triggerType: 'balance', currency: 'USD', ...amounts }
    await shop.put('/v1/sdk/auto-recharge', { customerRef, ...terms, deferSetupIntent: true })
    expect(await shop.get(path)).toMatchObject({ config: { enabled: true } })
    await shop.delete(path)
    expect(await shop.get(path)).toMatchObject({ config: { enabled: false, status: 'disabled' } })
  })

  test('the provider details that customers see', async () => {
    await shop.patch('/v1/ui/merchant', { supportEmail: 'help@acme.example' })
    const merchant = await shop.get('/v1/sdk/merchant')
    expect(merchant).toMatchObject({ supportContact: 'help@acme.example' })
  })
})

describe('concurrent requests', () => {
  test('counts exactly the recorded usage, and refuses none of it', async () => {
    const { customerRef, productRef } = await holder({ ...free, limit: 20 })
    await together(20, () => shop.use(customerRef, productRef))
    expect((await shop.check(customerRef, productRef)).remaining).toBe(0)
    const over = await holder({ ...free, limit: 20 })
    await together(21, () => shop.use(over.customerRef, over.productRef))
    expect((await shop.check(over.customerRef, over.productRef)).withinLimits).toBe(false)
  })

  test('debits no more than the wallet contains', async () => {
    const { customerRef, productRef } = await holder(byCredits)
    await grant(customerRef, 1050)
    const body = { customerRef, productRef }
    const answers = await together(30, () => shop.post<UsageResponse>('/v1/sdk/usages', body))
    const debits = answers.map(({ creditDebit }) => creditDebit)
    const taken = debits.map((debit) => (debit?.debited === true ? debit.amount : 0))
    expect(taken.filter((amount) => amount === 100)).toHaveLength(10)
    expect(taken.reduce((sum, amount) => sum + amount, 0)).toBe(1050)
    expect(await creditsOf(customerRef)).toBe(0)
    expect((await shop.check(customerRef, productRef)).withinLimits).toBe(false)
  })

  test('adds every grant once', async () => {
    const customerRef = await shop.newCustomer()
    await together(20, (at) => grant(customerRef, at + 1))
    expect(await creditsOf(customerRef)).toBe(210)
  })

  test('creates one purchase for concurrent first checks', async () => {
    const { productRef } = await shop.sell({ ...free, default: true })
    const customers = await together(5, () => shop.newCustomer())
    await together(25, (at) => shop.check(customers[at % 5]!, productRef))
    for (const customerRef of customers) {
      expect(await shop.purchasesOf(customerRef)).toHaveLength(1)
    }
  })

  test('activates once for concurrent requests under any reference', async () => {
    const offer = await shop.sell(free)
    const externalRef = 'user_impatient'
    const customerRef = await shop.newCustomer({ externalRef })
    const answers = await together<LimitsResponse | ActivateResponse>(12, (at) =>
      at % 3 === 0
        ? shop.check(customerRef, offer.productRef)
        : shop.activate(at % 2 === 0 ? customerRef : externalRef, offer),
    )
    const activations = answers.filter((answer): answer is ActivateResponse => 'status' in answer)
    const [purchase, ...more] = await shop.purchasesOf(customerRef)
    expect(more).toEqual([])
    expect(activations.filter(({ status }) => status === 'activated')).toHaveLength(1)
    for (const { purchaseRef } of activations) expect(purchaseRef).toBe(purchase?.reference)
    const created = await shop.eventsOf(purchase!.reference)
    expect(created.map(({ type }) => type)).toEqual(['purchase.created'])
  })

  test('ends on one of several plans that are activated at once', async () => {
    const productRef = await shop.newProduct()
    const plans = await together(4, (at) =>
      shop.newPlan(productRef, { type: 'one-time', price: 0, limit: at + 1 }),
    )
    const customerRef = await shop.newCustomer()
    await together(8, (at) => shop.activate(customerRef, { productRef, planRef: plans[at % 4]! }))
    const active = (await shop.purchasesOf(customerRef)).filter(({ status }) => status === 'active')
    expect(active).toHaveLength(1)
    const { plan } = await shop.check(customerRef, productRef)
    expect(plan).toBe(active[0]?.planSnapshot?.reference)
  })

  test('creates a customer once for an email address', async () => {
    const email = 'race@acme.example'
    const answers = await together(12, () => client.send('POST', '/v1/sdk/customers', { email }))
    expect(answers.map(({ status }) => status).sort()).toEqual([
      201,
      ...Array<number>(11).fill(409),
    ])
    for (const { status, body } of answers) {
      const message = `Customer with identifier email ${email} already exists`
      if (status === 409)
        expect(body).toMatchObject({ statusCode: 409, error: 'Conflict', message })
    }
  })

  test.each(['the same address', 'addresses of their own'])(
    'creates a customer once for an external reference, with %s',
    async (what) => {
      const externalRef = `user_race ${what}`
      const answers = await together(12, (at) => {
        const email = what === 'the same address' ? 'race2@acme.example' : `race-${at}@acme.example`
        return shop.post<{ reference: string }>('/v1/sdk/customers', { email, externalRef }, 201)
      })
      expect(new Set(answers.map(({ reference }) => reference)).size).toBe(1)
      const [first] = answers
      const events = await shop.eventsOf(first!.reference)
      expect(events.filter(({ type }) => type === 'customer.created')).toHaveLength(1)
    },
  )

  test('links an email address to the first external reference', async () => {
    const email = 'linked-once@acme.example'
    const reference = await shop.newCustomer({ email })
    const answers = await together(8, (at) =>
      client.send('POST', '/v1/sdk/customers', { email, externalRef: `user_link${at}` }),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(7).fill(409)])
    const linked = answers.findIndex(({ status }) => status === 201)
    const customer = await shop.get(`/v1/sdk/customers/${reference}`)
    expect(customer).toMatchObject({ externalRef: `user_link${linked}` })
  })

  test('buys a plan in its old or its new version while it is edited', async () => {
    const offer = await shop.sell({ ...free, name: 'Edition 0' })
    const path = `/v1/sdk/products/${offer.productRef}/plans/${offer.planRef}`
    const customers = await together(20, () => shop.newCustomer())
    const editions = together(10, (at) =>
      shop.put(path, { name: `Edition ${at + 1}`, limit: 101 + at, metadata: { edition: at + 1 } }),
    )
    const bought = together(20, (at) => shop.buy(customers[at]!, offer))
    await editions
    for (const [at, purchaseRef] of (await bought).entries()) {
      // The name and the limit must come from the same edition, in the purchase and in the limit check.
      const { planSnapshot } = await shop.purchase(purchaseRef)
      const edition = Number(planSnapshot?.name?.slice('Edition '.length))
      expect(planSnapshot?.limit).toBe(100 + edition)
      const { remaining } = await shop.check(customers[at]!, offer.productRef)
      expect(remaining).toBe(100 + edition)
    }
  })

  test('applies concurrent cancellations and reactivations in some order', async () => {
    const { purchaseRef } = await holder(free)
    await shop.cancel(purchaseRef)
    const path = `/v1/sdk/purchases/${purchaseRef}`
    const answers = await together(10, (at) =>
      client.send('POST', `${path}/${at % 2 === 0 ? 'reactivate' : 'cancel'}`),
    )
    expect(answers.every(({ status }) => status === 200 || status === 400)).toBe(true)
    const { autoRenew, cancelledAt, endDate, nextBillingDate } = await shop.purchase(purchaseRef)
    const isCancelled = cancelledAt !== undefined
    expect([autoRenew, endDate === undefined, nextBillingDate === undefined]).toEqual([
      !isCancelled,
      !isCancelled,
      isCancelled,
    ])
  })

  test('deletes a product once, and does not sell it afterwards', async () => {
    const offer = await shop.sell(free)
    const customers = await together(6, () => shop.newCustomer())
    const path = `/v1/sdk/products/${offer.productRef}`
    const [deleted, activated] = await Promise.all([
      together(4, () => client.send('DELETE', path)),
      together(6, (at) => shop.activate(customers[at]!, offer)),
    ])
    expect(deleted.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404])
    for (const { purchaseRef } of activated) {
      if (purchaseRef !== undefined)
        expect((await shop.purchase(purchaseRef)).status).toBe('expired')
    }
  })
})
