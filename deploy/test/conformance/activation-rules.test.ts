import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { createManualClock } from '../manual-clock.ts'
import { startStack } from '../stack.ts'
import { startingWith, text } from './shapes.ts'
import { openShop, type Shop } from './shop.ts'

/* Putting customers on plans, switching plans, and how clients interpret the purchases. */

const clock = createManualClock('2027-01-31T10:00:00.000Z')
let shop: Shop

const stack = await startStack({ clock })
afterAll(() => stack.stop())
beforeEach(async () => {
  clock.set('2027-01-31T10:00:00.000Z')
  shop = openShop((await stack.createProvider()).sandbox)
})

const free = { price: 0, limit: 100 }
const byCredits = { type: 'usage-based', billingModel: 'pre-paid', creditsPerUnit: 100 }
const postPaid = { type: 'usage-based', billingModel: 'post-paid', creditsPerUnit: 2 }
const inCredits = { creditBalance: 0, creditsPerUnit: 100, currency: 'USD' }
const activated = { status: 'activated', purchaseRef: startingWith('pur_') }
const toPay = { status: 'payment_required', checkoutUrl: text, checkoutSessionId: text }
const refused = { status: 'invalid', message: text }

describe('activating a plan', () => {
  const rows: readonly (readonly [what: string, plan: object, answer: object])[] = [
    ['free', free, activated],
    ['free and bought once', { type: 'one-time', price: 0 }, activated],
    ['usage-based, with an empty wallet', byCredits, { ...activated, ...inCredits }],
    ['usage-based, paid afterwards', postPaid, activated],
    ['recurring and paid', { price: 4900 }, toPay],
    ['paid, with a trial', { price: 4900, trialDays: 14 }, toPay],
    ['hybrid', { type: 'hybrid', basePrice: 4900, creditsPerUnit: 5 }, toPay],
    ['hybrid, charging for usage alone', { type: 'hybrid', creditsPerUnit: 5 }, activated],
    ['free, with a set-up fee', { price: 0, setupFee: 300 }, toPay],
    ['one-time', { type: 'one-time', price: 700 }, toPay],
    ['inactive', { ...free, status: 'inactive' }, refused],
    ['archived', { ...free, status: 'archived' }, refused],
    ['hidden', { ...free, hidden: true }, refused],
  ]
  test.each(rows)('has the specified result for a plan that is %s', async (_, plan, answer) => {
    const offer = await shop.sell(plan)
    const customerRef = await shop.newCustomer()
    const given = await shop.activate(customerRef, offer)
    expect(given).toEqual(expect.objectContaining(answer))
    const purchases = await shop.purchasesOf(customerRef)
    expect(purchases.map(({ reference }) => reference)).toEqual(
      given.purchaseRef === undefined ? [] : [given.purchaseRef],
    )
    const { plan: active } = await shop.check(customerRef, offer.productRef)
    expect(active).toBe(given.purchaseRef === undefined ? '' : offer.planRef)
  })

  test('includes the balance if there is one', async () => {
    const offer = await shop.sell(byCredits)
    const customerRef = await shop.newCustomer()
    await shop.post(`/v1/sdk/customers/${customerRef}/credits`, { credits: 250 })
    const answer = { ...activated, ...inCredits, creditBalance: 250 }
    expect(await shop.activate(customerRef, offer)).toEqual(answer)
  })

  test('changes nothing if the plan is already active', async () => {
    const offer = await shop.sell(free)
    const customerRef = await shop.newCustomer()
    const purchaseRef = await shop.buy(customerRef, offer)
    const again = { status: 'already_active', purchaseRef }
    expect(await shop.activate(customerRef, offer)).toEqual(again)
    await shop.cancel(purchaseRef)
    expect(await shop.activate(customerRef, offer)).toEqual(again)
  })

  test('refuses a plan of another product, and an unknown plan', async () => {
    const { planRef } = await shop.sell(free)
    const { productRef } = await shop.sell(free)
    const customerRef = await shop.newCustomer()
    const offers = [
      { productRef, planRef },
      { productRef, planRef: 'pln_UNKNOWN1' },
      { productRef: 'prd_UNKNOWN1', planRef },
    ]
    for (const offer of offers) expect(await shop.activate(customerRef, offer)).toEqual(refused)
    expect(await shop.purchasesOf(customerRef)).toEqual([])
  })
})

describe('switching to another plan', () => {
  const plans = { free, byCredits, postPaid, once: { type: 'one-time', price: 0, limit: 5 } }
  const switches = Object.entries(plans).flatMap(([from, old]) =>
    Object.entries(plans).map(([to, fresh]) => [`${from} to ${to}`, old, fresh] as const),
  )
  test.each(switches)('%s: ends the old purchase and begins the new one', async (_, old, fresh) => {
    const { productRef, planRef: oldRef } = await shop.sell(old)
    const planRef = await shop.newPlan(productRef, fresh)
    const customerRef = await shop.newCustomer()
    const left = await shop.buy(customerRef, { productRef, planRef: oldRef })
    await shop.use(customerRef, productRef, 3)
    clock.set('2027-02-10T00:00:00.000Z')
    const taken = await shop.buy(customerRef, { productRef, planRef })

    expect(await shop.purchase(left)).toMatchObject({
      status: 'expired',
      autoRenew: false,
      endDate: '2027-02-10T00:00:00.000Z',
    })
    expect(await shop.purchase(taken)).toMatchObject({
      status: 'active',
      startDate: '2027-02-10T00:00:00.000Z',
      planSnapshot: { reference: planRef },
      // The customer did not pay the full price of a period, so the purchase shares the current allowance.
      usage: { used: 3 },
    })
    expect((await shop.check(customerRef, productRef)).plan).toBe(planRef)
    const events = await shop.eventsOf(left, taken)
    expect(events.map(({ type, object }) => [type, object['reference']])).toEqual([
      ['purchase.created', left],
      ['purchase.expired', left],
      ['purchase.created', taken],
      ['purchase.plan_changed', taken],
    ])
    expect(events[3]).toMatchObject({
      object: { plan: planRef },
      previous_attributes: { plan: oldRef },
    })
  })

  test('changes nothing if the new plan has to be paid first', async () => {
    const { productRef, planRef } = await shop.sell(free)
    const paid = await shop.newPlan(productRef, { price: 4900 })
    const customerRef = await shop.newCustomer()
    const held = await shop.buy(customerRef, { productRef, planRef })
    const before = await shop.purchase(held)
    expect(await shop.activate(customerRef, { productRef, planRef: paid })).toEqual(toPay)
    expect(await shop.purchasesOf(customerRef)).toEqual([before])
    expect((await shop.check(customerRef, productRef)).plan).toBe(planRef)
  })

  test('keeps purchases of other products', async () => {
    const first = await shop.sell(free)
    const second = await shop.sell(free)
    const customerRef = await shop.newCustomer()
    const kept = await shop.buy(customerRef, first)
    await shop.buy(customerRef, second)
    const other = await shop.newPlan(second.productRef, postPaid)
    await shop.buy(customerRef, { ...second, planRef: other })
    expect((await shop.purchase(kept)).status).toBe('active')
  })
})

/** Returns the purchases as clients' pages show them: the active ones, with the newest first. */
async function shownPurchases(customerRef: string): Promise<string[]> {
  const { purchases } = await shop.get<{
    purchases: { reference: string; status: string; startDate: string; amount: number }[]
  }>(`/v1/sdk/customers/${customerRef}`)
  return purchases
    .filter(({ status }) => status === 'active')
    .sort((one, other) => other.startDate.localeCompare(one.startDate))
    .map(({ reference }) => reference)
}

describe('purchases as clients select them', () => {
  test('shows the newest active purchase', async () => {
    const customerRef = await shop.newCustomer()
    const { productRef, planRef } = await shop.sell(free)
    const first = await shop.buy(customerRef, { productRef, planRef })
    clock.set('2027-02-01T00:00:00.000Z')
    const elsewhere = await shop.buy(customerRef, await shop.sell(free))
    expect(await shownPurchases(customerRef)).toEqual([elsewhere, first])
    clock.set('2027-02-02T00:00:00.000Z')
    const other = await shop.newPlan(productRef, postPaid)
    const taken = await shop.buy(customerRef, { productRef, planRef: other })
    expect(await shownPurchases(customerRef)).toEqual([taken, elsewhere])
  })

  test('shows a cancelled purchase until it has ended', async () => {
    const customerRef = await shop.newCustomer()
    const ending = await shop.buy(customerRef, await shop.sell(free))
    const once = await shop.buy(customerRef, await shop.sell({ type: 'one-time', price: 0 }))
    await shop.cancel(once)
    await shop.cancel(ending)
    expect(await shownPurchases(customerRef)).toEqual([ending])
    clock.set('2027-02-28T09:59:59.999Z')
    expect(await shownPurchases(customerRef)).toEqual([ending])
    clock.set('2027-02-28T10:00:00.000Z')
    expect(await shownPurchases(customerRef)).toEqual([])
  })

  test('counts no free purchase as paid', async () => {
    const { productRef, planRef } = await shop.sell({ ...free, default: true })
    const customerRef = await shop.newCustomer()
    expect((await shop.check(customerRef, productRef)).plan).toBe(planRef)
    const [enrolled] = await shop.purchasesOf(customerRef)
    expect(enrolled).toMatchObject({ amount: 0, origin: 'free_default', status: 'active' })
    const hidden = await shop.get(`/v1/sdk/purchases/customer/${customerRef}?includeFree=false`)
    expect(hidden).toEqual({ purchases: [] })
  })
})
