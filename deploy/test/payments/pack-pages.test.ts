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

test('sells a pack of which a discount leaves nothing without a payment', async () => {
  const purchase = await shop.buy(plan)
  const { customerRef } = purchase
  const code = `FREE-${customerRef}`.slice(0, 30)
  const terms = { code, name: 'Partner', percentOff: 100, duration: 'forever' }
  await payments.call('POST', '/v1/ui/coupons', terms)
  await payments.call('POST', `/v1/ui/customers/${customerRef}/discounts`, { code })
  const unitsLeft = async () => (await check(purchase)).remaining

  const wanted = { customerRef, productRef, planRef: fifty }
  const { status, body } = await payments.createIntent(`free-${customerRef}`, wanted)
  expect([status, body]).toMatchObject([201, { status: 'succeeded', originalAmount: 0 }])
  const again = await payments.createIntent(`free-${customerRef}`, wanted)
  expect(again.body.processorPaymentId).toBe(body.processorPaymentId)
  expect(await unitsLeft()).toBe(150)

  const opened = await pages.openCheckout(wanted)
  const page = await pages.visit(opened)
  expect(page.text).toContain('Partner, 100% off')
  expect(page.text).toContain('Start now')
  expect(page.text).not.toContain('Continue to payment')
  await pages.visit(opened, '/pay', { plan: fifty, currency: 'USD' })
  expect(await unitsLeft()).toBe(200)

  const { sandboxKey } = payments.tenant
  const activated = await payments.stack.callRaw(sandboxKey, 'POST', '/v1/sdk/activate', {
    ...{ body: JSON.stringify(wanted), headers: { 'idempotency-key': `free-${customerRef}` } },
  })
  expect(activated.body).toMatchObject({
    ...{ status: 'activated', message: 'Discounts leave nothing to pay.' },
  })
  expect(await unitsLeft()).toBe(250)
  expect((await payments.call('POST', '/v1/sdk/activate', wanted)).body).toMatchObject({
    status: 'payment_required',
  })
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
