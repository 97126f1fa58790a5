import { afterAll, beforeEach, expect, test, vi } from 'vitest'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { HostedPages } from './hosted-pages.ts'
import { startPackShop } from './pack-shop.ts'

/* Packs on the pages of customers: what is shown of them, and to whom they are sold. */

vi.setConfig({ testTimeout: 120_000 })

const packShop = await startPackShop()
const { metered, plan, pack, fifty, check, buyPack, settle, refund } = packShop
const { shop } = metered
const { payments } = shop
const { productRef } = payments
afterAll(() => metered.stop())

beforeEach(() => packShop.begin())

const { clock } = payments.stack
const at = (iso: string): void => clock.set(iso)

const pages = new HostedPages(payments)

async function openCheckout({ customerRef }: Purchase, planRef: string): Promise<string> {
  const opened = await pages.openCheckout({ customerRef, productRef, planRef })
  return (await pages.visit(opened)).text
}

test('is shown in the portal beside the plan, and sold by a checkout that replaces nothing', async () => {
  const purchase = await shop.buy(plan)
  const page = await openCheckout(purchase, fifty)
  expect(page).toContain('50 units, used after those of your plan')
  expect(page).not.toContain('This replaces')
  await buyPack(purchase, fifty)
  await metered.use(purchase.customerRef, 120)
  await check(purchase)
  const { text } = await pages.visit(await pages.openPortal(purchase.customerRef))
  expect(text).toContain('120 of 150 requests')
  expect(text).toContain('Packs: 30 units left')
  expect(text).toContain('30 of 50 units left')
})

test('refuses a pack of which discounts leave nothing, which would be sold without limit', async () => {
  const purchase = await shop.buy(plan)
  const { customerRef } = purchase
  const wanted = { customerRef, productRef, planRef: fifty }
  const free = { name: 'Partner', percentOff: 100 }
  const once = { ...free, code: `ONCE-${customerRef}`.slice(0, 30), duration: 'once' }
  await payments.call('POST', '/v1/ui/coupons', once)
  const withCode = { ...wanted, couponCode: once.code }
  const refused = await payments.createIntent(`once-${customerRef}`, withCode)
  expect([refused.status, refused.body]).toMatchObject([
    400,
    { message: 'The coupon cannot be redeemed: it leaves less than can be charged' },
  ])
  const opened = await pages.openCheckout(withCode)
  expect((await pages.visit(opened)).text).toContain('Continue to payment')

  const forever = { ...free, code: `FREE-${customerRef}`.slice(0, 30), duration: 'forever' }
  await payments.call('POST', '/v1/ui/coupons', forever)
  const { code } = forever
  await payments.call('POST', `/v1/ui/customers/${customerRef}/discounts`, { code })
  for (const key of ['one', 'two']) {
    const { status, body } = await payments.createIntent(`${key}-${customerRef}`, wanted)
    expect([status, body]).toMatchObject([
      400,
      { message: 'Discounts leave less of the price than can be charged' },
    ])
  }
  const discounted = await pages.openCheckout(wanted)
  expect((await pages.visit(discounted)).status).toBe(410)
  await pages.visit(discounted, '/pay', { plan: fifty, currency: 'USD' })
  const { sandboxKey } = payments.tenant
  const activated = await payments.stack.callRaw(sandboxKey, 'POST', '/v1/sdk/activate', {
    ...{ body: JSON.stringify(wanted), headers: { 'idempotency-key': `free-${customerRef}` } },
  })
  expect(activated.body).toMatchObject({ status: 'payment_required' })
  expect((await check(purchase)).remaining).toBe(100)
})

test('shows what is left of each pack, in the order in which packs are used', async () => {
  const ten = await pack(10, { accessExpiryDays: 10 })
  const purchase = await shop.buy(plan)
  await buyPack(purchase, fifty)
  await buyPack(purchase, ten)
  await metered.use(purchase.customerRef, 113)
  await check(purchase)
  const leftIn = (text: string) => text.match(/\d+ of \d+ units left/g)?.sort()
  const { text } = await pages.visit(await pages.openPortal(purchase.customerRef))
  expect(leftIn(text)).toEqual(['0 of 10 units left', '47 of 50 units left'])
  await refund(purchase, fifty, 250)
  const refunded = await pages.visit(await pages.openPortal(purchase.customerRef))
  expect(leftIn(refunded.text)).toEqual(['0 of 10 units left', '22 of 25 units left'])
  // The plan has ended: the portal shows what the last settlement left, and offers plans.
  await settle('2026-06-02T00:00:00Z')
  await payments.call('POST', `/v1/sdk/purchases/${purchase.reference}/cancel`, {})
  at('2026-07-01T00:00:00Z')
  await shop.runJob('renewals', '2026-07-01T10:00:00Z')
  await settle('2026-07-01T10:01:00Z')
  const ended = await pages.visit(await pages.openPortal(purchase.customerRef))
  expect(leftIn(ended.text)).toEqual(['22 of 25 units left'])
  expect(ended.text).toContain('Choose a plan for')
})

test('is sold in the portal only to its own customer with a running plan, and only if it is on offer', async () => {
  const hidden = await pack(5, { hidden: true })
  const soldOut = await pack(5, { availability: { maxQuantity: 1 } })
  const [purchase, other] = [await shop.buy(plan), await shop.buy(plan)]
  await buyPack(purchase, fifty)
  await buyPack(other, soldOut)
  const [bought] = await shop.purchasesOf(purchase.customerRef)
  const own = await pages.openPortal(purchase.customerRef)
  const packsOf = ({ reference }: Pick<Purchase, 'reference'>) => `/purchases/${reference}/packs`

  const page = await pages.visit(own, packsOf(purchase))
  expect([page.status, page.text.includes(fifty)]).toEqual([200, true])
  expect(page.text).not.toContain(hidden)
  expect(page.text).not.toContain(soldOut)
  expect(page.text).not.toContain(`value="${plan}"`)
  const opened = await pages.visit(own, packsOf(purchase), { plan: fifty })
  expect([opened.status, opened.location]).toEqual([
    303,
    expect.stringContaining('/customer/checkout?id='),
  ])
  for (const planRef of [hidden, soldOut, plan, 'pln_NOBODYS00000', '']) {
    const refused = await pages.visit(own, packsOf(purchase), { plan: planRef })
    expect([planRef, refused.status, refused.location]).toEqual([planRef, 410, ''])
  }
  // A pack is not bought beside a pack.
  expect((await pages.visit(own, packsOf(bought!))).status).toBe(410)

  const stranger = await pages.openPortal(other.customerRef)
  const strangers: readonly (readonly [string, Record<string, string>?])[] = [
    [`/purchases/${bought!.reference}`],
    [packsOf(purchase)],
    [packsOf(purchase), { plan: fifty }],
    [`/purchases/${purchase.reference}/budget`, { amount: '5', action: 'stop' }],
    [`/purchases/${bought!.reference}/cancel`, {}],
  ]
  for (const [below, form] of strangers) {
    expect([below, (await pages.visit(stranger, below, form)).status]).toEqual([below, 404])
  }
  expect((await pages.visit({ ...own, cookie: stranger.cookie }, packsOf(purchase))).status).toBe(
    401,
  )
  at('2026-06-01T01:00:00Z')
  for (const [below, form] of strangers) {
    expect([below, (await pages.visit(own, below, form)).status]).toEqual([below, 401])
  }
})
