import { addCarried } from '@tollgate/domain/invoices/carried-amounts'
import { insertItem } from '@tollgate/domain/invoices/items-repository'
import { changeMerchant } from '@tollgate/domain/merchants/repository'
import { previewCancel } from '@tollgate/domain/previews/preview-cancel'
import { previewChange } from '@tollgate/domain/previews/preview-change'
import { previewPurchase } from '@tollgate/domain/previews/preview-purchase'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { saveTaxService } from '@tollgate/domain/tax-service/repository'
import { TaxQuestion } from '@tollgate/domain/tax-service/tax-question'
import type { OutsideQuestion } from '@tollgate/domain/unit-of-work/outside-question'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { hybrid, postPaid } from '../usage-billing/usage-shop.ts'
import { PreviewShop } from './preview-shop.ts'

/* Cases of previews that random stories reach seldom or never. */

const shop = await PreviewShop.start()
afterAll(() => shop.stop())
beforeEach(() => shop.open('2026-01-31T12:00:00Z'))

const units = (count: number): bigint => BigInt(count) * 1_000_000n

async function previewOf(purchase: Purchase, storedWaitMs?: number) {
  const held = await shop.held(purchase)
  return previewPurchase(shop.parts(storedWaitMs), shop.at, held, undefined)
}

test('states how much usage is known while some is not stored yet', async () => {
  const purchase = await shop.buy({ ...postPaid })
  shop.runner.clock.set('2026-02-01T00:00:00Z')
  await shop.use(purchase, units(300))
  expect((await previewOf(purchase)).invoices).toMatchObject([{ totalMinor: 200n }])
  await shop.stack.stopProjections()
  shop.runner.clock.set('2026-02-02T00:00:00Z')
  await shop.use(purchase, units(50))
  shop.runner.clock.set('2026-02-03T00:00:00Z')
  await shop.use(purchase, units(50))
  const behind = await previewOf(purchase, 1)
  expect(behind.invoices).toMatchObject([{ totalMinor: 200n }])
  expect(behind.usageAsOf).toEqual(new Date('2026-02-02T00:00:00Z'))
  await shop.stack.startProjections()
  const current = await previewOf(purchase)
  expect(current.invoices).toMatchObject([{ totalMinor: 300n }])
  expect(current.usageAsOf).toEqual(new Date('2026-02-03T00:00:00Z'))
})

test('bills a period first that has ended and is in its grace time', async () => {
  const purchase = await shop.buy({ ...postPaid })
  await shop.use(purchase, units(300))
  shop.runner.clock.set('2026-02-28T12:20:00Z')
  await shop.use(purchase, units(160))
  expect(await previewOf(purchase)).toMatchObject({
    period: { start: new Date('2026-02-28T12:00:00Z') },
    invoices: [
      { at: new Date('2026-02-28T13:00:00Z'), totalMinor: 200n },
      { at: new Date('2026-03-31T13:00:00Z'), totalMinor: 60n },
    ],
  })
})

/** Gives the purchase to the customer of another one, for another product. */
async function moveTo(
  purchase: Purchase,
  customerRef: string,
  productRef = 'prd_beside',
): Promise<void> {
  await shop.within(async ({ sql, providerId }) => {
    await sql`
      insert into products
      select (jsonb_populate_record(product, jsonb_build_object('reference', ${productRef}::text))).*
      from products as product
      where provider_id = ${providerId} and reference = ${purchase.productRef}`
    await sql`
      update purchases set customer_ref = ${customerRef}, product_ref = ${productRef}
      where provider_id = ${providerId} and reference = ${purchase.reference}`
  })
}

test('the balance goes to the invoices of other purchases that are issued before', async () => {
  const monthly = { type: 'recurring', price: 1_000, billingCycle: 'monthly' } as const
  const first = await shop.buy(monthly)
  shop.runner.clock.set('2026-02-10T12:00:00Z')
  const other = await shop.buy(monthly)
  const { customerRef } = first
  await moveTo(other, customerRef)
  await shop.within(({ sql, providerId, now }) =>
    addCarried(sql, providerId, { customerRef, currency: 'USD' }, -1_300n, now),
  )
  const beside = await shop.runner.purchase(shop.shop, other.reference)
  const previewed = await previewOf(beside)
  expect(previewed.invoices).toMatchObject([
    { at: new Date('2026-03-10T12:00:00Z'), totalMinor: 700n, dueMinor: 700n },
  ])
  expect((await previewOf(first)).invoices).toMatchObject([{ totalMinor: -300n, dueMinor: 0n }])
  for (const at of ['2026-02-28T12:00:00Z', '2026-03-10T12:00:00Z']) {
    await shop.runJobs(new Date(at))
  }
  const made = await shop.within(
    ({ sql }) => sql<{ total: string }[]>`
      select total from invoices where purchase_ref = ${other.reference} order by created_at`,
  )
  expect(made.at(-1)).toEqual({ total: '700' })
})

test('asks the tax service about the previewed invoice, however many others come before', async () => {
  const yearly = await shop.buy({ type: 'recurring', price: 9_000, billingCycle: 'yearly' })
  const { customerRef } = yearly
  for (let count = 0; count < 3; count += 1) {
    const other = await shop.buy({ type: 'recurring', price: 1_000, billingCycle: 'monthly' })
    await moveTo(other, customerRef, `prd_of_${other.reference}`)
  }
  const service = { url: 'https://tax.example', sealedSecret: '', onFailure: 'hold' } as const
  await shop.within(async ({ sql, providerId, now }) => {
    await changeMerchant(sql, providerId, { defaultTaxCountry: 'SE' }, now)
    await saveTaxService(sql, providerId, { ...service, createdAt: now, updatedAt: now })
  })
  let questions = 0
  const ask = async (question: OutsideQuestion): Promise<void> => {
    questions += 1
    if (!(question instanceof TaxQuestion)) throw question
    question.decision = { rates: [{ rate: '0.1', label: 'Tax' }] }
  }
  const held = await shop.held(yearly)
  const { invoices } = await previewPurchase({ ...shop.parts(), ask }, shop.at, held, undefined)
  expect(invoices).toMatchObject([{ totalMinor: 9_900n }])
  expect(questions).toBe(17)
})

test('carries what is too small to charge from one invoice into the next', async () => {
  const purchase = await shop.buy({ ...hybrid, billingStrategy: 'usage_first' })
  await shop.use(purchase, units(40))
  expect((await previewOf(purchase)).invoices).toMatchObject([
    { cause: 'usage', totalMinor: 40n, dueMinor: 0n, carriedMinor: 40n },
    { cause: 'renewal', totalMinor: 4_940n, dueMinor: 4_940n },
  ])
})

test('charges pending items of the currency once, with the first invoice of a period', async () => {
  const purchase = await shop.buy({ ...hybrid, billingStrategy: 'usage_first' })
  await shop.use(purchase, units(300))
  await shop.within(({ sql, providerId, now }) =>
    insertItem(
      sql,
      providerId,
      {
        ...{ reference: 'itm_1', customerRef: purchase.customerRef, currency: purchase.currency },
        inputs: { kind: 'item', unitMinor: '250', quantity: '2' },
        ...{ description: 'Set-up', reason: 'agreed', addedBy: 'key:1', createdAt: now },
      },
      { idempotencyKey: null, inputSha256: '' },
    ),
  )
  const { invoices } = await previewOf(purchase)
  const items = invoices.map(({ lines }) => lines.filter(({ inputs }) => inputs.kind === 'item'))
  expect(items).toMatchObject([[{ description: 'Set-up', amountMinor: 500n }], []])
})

test('reports the amount at which a running period is billed', async () => {
  const purchase = await shop.buy({ ...postPaid, freeUnits: 0, billAtUnbilledMinor: 500 })
  await shop.use(purchase, units(499))
  expect((await previewOf(purchase)).threshold).toEqual({ amountMinor: 500n, isReached: false })
  await shop.use(purchase, units(1))
  expect((await previewOf(purchase)).threshold).toEqual({ amountMinor: 500n, isReached: true })
})

test('names the units that a change loses, and the paid time that it credits or loses', async () => {
  const purchase = await shop.buy({
    ...{ name: 'Basic', type: 'hybrid', basePrice: 3_100, billingCycle: 'monthly', limit: 100 },
    ...{ rolloverUnusedUnits: true, overagePolicy: { allowOverage: true, overageRate: 100 } },
  })
  await shop.use(purchase, units(30))
  shop.runner.clock.set('2026-02-14T12:00:00Z')
  const held = await shop.held(purchase)
  const yearly = await shop.runner.addPlan(shop.shop, {
    ...{ name: 'Yearly', type: 'recurring', price: 30_000, billingCycle: 'yearly' },
  })
  const change = { ...held, planRef: yearly.reference }
  expect(await previewChange(shop.parts(), shop.at, change)).toMatchObject({
    ...{ kind: 'begins', needs: 'payment', startsAt: shop.now },
    // Half of the period is left, and the new plan has a period of its own.
    unusedTime: { amountMinor: 1_550n, currency: 'USD', isCredited: false },
    lostUnits: [{ meterName: 'requests', micros: units(70) }],
  })
})

test('asks for older invoices first, and for a card if the plan needs one', async () => {
  const purchase = await shop.buy({ ...postPaid })
  const held = await shop.held(purchase)
  const carded = await shop.runner.addPlan(shop.shop, {
    ...{ ...postPaid, name: 'With a card', requiresPaymentMethod: true },
  })
  const change = { ...held, planRef: carded.reference }
  expect(await previewChange(shop.parts(), shop.at, change)).toMatchObject({
    ...{ kind: 'begins', needs: 'card' },
  })
  // The shop saves a card when it is asked for one.
  const countCards = async () => {
    const { reference } = held.customer
    const cards = await shop.runner.database.in('sandbox')`
      select 1 from customer_cards where customer_ref = ${reference}`
    return cards.length
  }
  expect(await countCards()).toBe(0)
  expect(await shop.take(held.customer, carded)).toEqual({ kind: 'activated' })
  expect(await countCards()).toBe(1)
})

test('refuses to cancel what cannot be cancelled, and repeats a cancellation without effect', async () => {
  const purchase = await shop.buy({ type: 'recurring', price: 4_900, billingCycle: 'monthly' })
  await shop.cancel(purchase)
  const again = await previewCancel(shop.parts(), shop.at, await shop.held(purchase))
  expect(again).toMatchObject({
    ...{ kind: 'cancelled', decision: { kind: 'already-cancelled' }, invoices: [] },
  })
  shop.runner.clock.set('2026-03-05T00:00:00Z')
  const lapsed = await previewCancel(shop.parts(), shop.at, await shop.held(purchase))
  expect(lapsed).toMatchObject({ kind: 'cancelled', decision: { kind: 'already-cancelled' } })
  const expired = await shop.buy({ ...postPaid })
  await shop.runner.database.in('sandbox')`
    update purchases set status = 'expired', ended_at = now() where reference = ${expired.reference}`
  expect(await previewCancel(shop.parts(), shop.at, await shop.held(expired))).toEqual({
    kind: 'refused',
  })
})
