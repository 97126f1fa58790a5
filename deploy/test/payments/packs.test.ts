import { afterAll, beforeEach, expect, test, vi } from 'vitest'
import type { ActivateResponse } from '@tollgate/schemas/http/activate'
import type { UserInfoResponse } from '@tollgate/schemas/http/user-info'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { listColumns } from '@tollgate/platform/database/postgres/copy-tables'
import { startPackShop } from './pack-shop.ts'
import { eventually } from './payment-stack.ts'

/* Packs are bought beside a running plan. Their units are used after those of the plan, until they are used up or expire. */

vi.setConfig({ testTimeout: 120_000 })

const packShop = await startPackShop()
const { metered, plan, pack, fifty, waitAMinute, check, buyPack, settle, refund } = packShop
const { shop } = metered
const { payments } = shop
const { productRef } = payments
afterAll(() => metered.stop())

/** Usage above 100 units costs 1 cent each. */
const hybrid = await payments.createPlan({
  ...{ type: 'hybrid', basePrice: 4_900, billingCycle: 'monthly', limit: 100 },
  overagePolicy: { allowOverage: true, overageRate: 100 },
})

beforeEach(() => packShop.begin())

const { clock } = payments.stack
const at = (iso: string): void => clock.set(iso)

/** Returns the remaining units: all, of the plan, and of packs. */
async function remaining(of: Pick<Purchase, 'customerRef'>): Promise<unknown[]> {
  const body = await check(of)
  const [units] = body.packs ?? []
  return [body.remaining, units?.planRemaining, units?.packRemaining]
}

const packsOf = ({ customerRef }: Purchase) =>
  shop.sql<{ used: string; taken: string }[]>`
    select (used_micros / 1000000)::text as used, (taken_micros / 1000000)::text as taken
    from packs where customer_ref = ${customerRef} order by starts_at, purchase_ref`

/** Disputes the payment of a pack. Returns the processor's id of the dispute. */
async function dispute({ customerRef }: Purchase, planRef: string): Promise<string> {
  const [paid] = await shop.sql<{ id: string }[]>`
    select processor_payment_id as id from payment_intents
    where customer_ref = ${customerRef} and plan_ref = ${planRef}`
  const { body } = await payments.stripe('GET', 'charges', { payment_intent: paid!.id })
  const { id } = await payments.simulate(`charges/${body.data![0]!.id}/dispute`, {})
  await eventually(async () => {
    const claims = await shop.sql`select 1 from pack_claims where reference = ${String(id)}`
    expect(claims).toHaveLength(1)
  })
  return String(id)
}

test('adds units to a running plan, and leaves its purchase untouched', async () => {
  const purchase = await shop.buy(plan)
  await metered.use(purchase.customerRef, 100)
  expect(await check(purchase)).toMatchObject({ withinLimits: false, remaining: 0 })
  expect(await check(purchase)).not.toHaveProperty('packs')
  const before = await shop.purchase(purchase.reference)
  await buyPack(purchase, fifty)
  expect(await shop.purchase(purchase.reference)).toEqual(before)
  expect(await check(purchase)).toMatchObject({
    withinLimits: true,
    remaining: 50,
    plan,
    packs: [{ meterName: 'requests', planRemaining: 0, packRemaining: 50 }],
  })
  await metered.use(purchase.customerRef, 20)
  const { body } = await payments.call<UserInfoResponse>('POST', '/v1/sdk/user-info', {
    customerRef: purchase.customerRef,
    productRef,
  })
  expect(body.purchase?.usage).toMatchObject({
    ...{ total: 150, used: 120, remaining: 30 },
    ...{ planRemaining: 0, packRemaining: 30 },
  })
  const [bought] = await shop.purchasesOf(purchase.customerRef)
  expect(bought).toMatchObject({ planRef: fifty, status: 'active', isPack: true, replaces: null })
  expect(await payments.eventsOf(purchase.reference)).not.toContain('purchase.plan_changed')
})

test('carries what is left over renewals, before and after the period is settled', async () => {
  const purchase = await shop.buy(plan)
  await buyPack(purchase, fifty)
  await metered.use(purchase.customerRef, 110)
  await shop.runJob('renewals', '2026-07-01T10:00:00Z')
  expect(await remaining(purchase)).toEqual([140, 100, 40])
  await metered.use(purchase.customerRef, 105)
  expect(await remaining(purchase)).toEqual([35, 0, 35])
  await settle('2026-07-01T10:01:00Z')
  expect(await packsOf(purchase)).toMatchObject([{ used: '10' }])
  expect(await remaining(purchase)).toEqual([35, 0, 35])
  // A second run finds nothing to do.
  await settle('2026-07-01T10:02:00Z')
  expect(await packsOf(purchase)).toMatchObject([{ used: '10' }])
  await metered.use(purchase.customerRef, 60)
  expect(await check(purchase)).toMatchObject({ withinLimits: false, remaining: 0 })
  await shop.runJob('renewals', '2026-08-01T10:00:00Z')
  expect(await remaining(purchase)).toEqual([100, 100, 0])
  await settle('2026-08-01T10:01:00Z')
  expect(await packsOf(purchase)).toMatchObject([{ used: '50' }])
  const [used] = await shop.purchasesOf(purchase.customerRef)
  expect(used).toMatchObject({ planRef: fifty, status: 'expired' })
})

test('uses the pack that ends first, and forfeits its rest at its end', async () => {
  const ten = await pack(10, { accessExpiryDays: 10 })
  const purchase = await shop.buy(plan)
  await buyPack(purchase, fifty)
  await buyPack(purchase, ten)
  at('2026-06-05T00:00:00Z')
  await metered.use(purchase.customerRef, 104)
  expect(await remaining(purchase)).toEqual([56, 0, 56])
  // Until its end is settled, the pack is left out, and what it paid for counts as used of the others.
  at('2026-06-11T00:02:00Z')
  expect(await remaining(purchase)).toEqual([46, 0, 46])
  await metered.use(purchase.customerRef, 6)
  await settle('2026-06-11T00:03:00Z')
  expect(await packsOf(purchase)).toMatchObject([{ used: '0' }, { used: '4' }])
  expect(await remaining(purchase)).toEqual([44, 0, 44])
  await settle('2026-07-01T00:00:00Z')
  expect(await packsOf(purchase)).toMatchObject([{ used: '6' }, { used: '4' }])
})

test('takes back what a refund left unused, in proportion to the amount', async () => {
  const purchase = await shop.buy(plan)
  await buyPack(purchase, fifty)
  await metered.use(purchase.customerRef, 120)
  expect(await remaining(purchase)).toEqual([30, 0, 30])
  await refund(purchase, fifty, 250)
  expect(await remaining(purchase)).toEqual([5, 0, 5])
  await settle('2026-06-02T00:00:00Z')
  expect(await packsOf(purchase)).toEqual([{ used: '20', taken: '25' }])
  expect(await remaining(purchase)).toEqual([5, 0, 5])
  await refund(purchase, fifty)
  expect(await check(purchase)).toMatchObject({ withinLimits: false, remaining: 0 })
  await settle('2026-06-03T00:00:00Z')
  // The 20 used units stay used.
  expect(await packsOf(purchase)).toEqual([{ used: '20', taken: '30' }])
  const [refunded] = await shop.purchasesOf(purchase.customerRef)
  expect(refunded).toMatchObject({ planRef: fifty, status: 'refunded' })
  expect(await shop.purchase(purchase.reference)).toMatchObject({ status: 'active' })
})

test('pays for usage above the included units, so that it is not billed', async () => {
  const purchase = await shop.buy(hybrid)
  await buyPack(purchase, fifty)
  await metered.use(purchase.customerRef, 130)
  expect(await check(purchase)).toMatchObject({
    withinLimits: true,
    remaining: 999_999,
    packs: [{ packRemaining: 20 }],
  })
  const bill = (iso: string) =>
    shop.runJob('usage-billing', iso, {
      ...metered.runnerSettings,
      TOLLGATE_BILLING_TRIES_MAX: '1',
    })
  await shop.runJob('renewals', '2026-07-01T10:00:00Z')
  await bill('2026-07-01T11:00:00Z')
  const lines = () => shop.sql`
    select kind, amount::int as amount, inputs->>'usedUnits' as used, inputs->>'packUnits' as pack,
      inputs->>'lateUnits' as late, inputs->>'latePackUnits' as late_pack
    from invoice_lines join invoices on invoices.provider_id = invoice_lines.provider_id
      and reference = invoice_ref
    where purchase_ref = ${purchase.reference} and kind in ('usage', 'late_usage')
    order by period_start, kind desc`
  expect(await lines()).toMatchObject([{ amount: 0, used: '130', pack: '30' }])
  // Late usage is taken from what is left, and the rest of it is billed: 25 units at 1 cent, less 20.
  await metered.use(purchase.customerRef, 25, '2026-06-20T00:00:00Z')
  await metered.use(purchase.customerRef, 101)
  await shop.runJob('renewals', '2026-08-01T10:00:00Z')
  await bill('2026-08-01T11:00:00Z')
  const [, june, july] = await lines()
  expect(await packsOf(purchase)).toMatchObject([{ used: '50' }])
  // The unit of July came first: its period was settled at its end.
  expect(july).toMatchObject({ kind: 'usage', amount: 0, used: '101', pack: '1' })
  expect(june).toMatchObject({ kind: 'late_usage', amount: 6, late: '25', late_pack: '19' })
})

test('ends the stop of a budget, because its units pay for the usage', async () => {
  const purchase = await shop.buy(hybrid)
  const { providerId } = payments.tenant
  await shop.sql`
    insert into budgets
      (provider_id, customer_ref, product_ref, amount_minor, currency, action, created_at, updated_at)
    values (${providerId}, ${purchase.customerRef}, ${productRef}, 20, 'USD', 'stop', now(), now())`
  await metered.use(purchase.customerRef, 130)
  const patience = { timeout: 30_000 }
  await expect
    .poll(() => check(purchase), patience)
    .toMatchObject({ withinLimits: false, blockedBy: { reason: 'budget' } })
  await buyPack(purchase, fifty)
  await expect.poll(() => check(purchase), patience).toMatchObject({ withinLimits: true })
})

test('has its units back after a won dispute, for usage from then on', async () => {
  const purchase = await shop.buy(hybrid)
  await buyPack(purchase, fifty)
  const disputeId = await dispute(purchase, fifty)
  await settle('2026-06-02T00:00:00Z')
  expect(await packsOf(purchase)).toEqual([{ used: '0', taken: '50' }])
  // The 30 units above the limit are billed, as no pack has units.
  await metered.use(purchase.customerRef, 130)
  await shop.runJob('renewals', '2026-07-01T10:00:00Z')
  await shop.runJob('renewals', '2026-08-01T10:00:00Z')
  at('2026-08-10T00:00:00Z')
  await payments.simulate(`disputes/${disputeId}/close`, { ending: 'won' })
  await eventually(async () => {
    expect(await packsOf(purchase)).toEqual([{ used: '0', taken: '0' }])
  })
  await settle('2026-08-11T00:00:00Z')
  expect(await packsOf(purchase)).toEqual([{ used: '0', taken: '0' }])
})

test.each([
  ['alone', false],
  ['beside another pack', true],
])('of a pack that ends during a won dispute, %s', async (_, hasOther) => {
  const ending = await pack(50, { accessExpiryDays: 20 })
  const purchase = await shop.buy(hybrid)
  await buyPack(purchase, ending)
  if (hasOther) await buyPack(purchase, await pack(40))
  const disputeId = await dispute(purchase, ending)
  await settle('2026-06-02T00:00:00Z')
  await metered.use(purchase.customerRef, 130)
  at('2026-06-25T00:00:00Z')
  await metered.use(purchase.customerRef, 15)
  await payments.simulate(`disputes/${disputeId}/close`, { ending: 'won' })
  await eventually(async () => {
    expect((await packsOf(purchase))[0]).toEqual({ used: '0', taken: '0' })
  })
  await settle('2026-06-25T00:01:00Z')
  // The usage of the running period until its end has its units, as without a dispute. The rest is forfeited.
  const other = (used: string) => (hasOther ? [{ used, taken: '0' }] : [])
  expect(await packsOf(purchase)).toEqual([{ used: '30', taken: '0' }, ...other('0')])
  await settle('2026-07-01T00:01:00Z')
  expect(await packsOf(purchase)).toEqual([{ used: '30', taken: '0' }, ...other('15')])
})

test('survives a change of plan', async () => {
  const larger = await payments.createPlan({ price: 3_800, billingCycle: 'monthly', limit: 300 })
  const purchase = await shop.buy(plan)
  await buyPack(purchase, fifty)
  await metered.use(purchase.customerRef, 120)
  at('2026-06-16T00:00:00Z')
  await shop.pay(purchase.customerRef, larger, 'pm_card_visa')
  expect(await shop.purchase(purchase.reference)).toMatchObject({ status: 'expired' })
  // Half a month of each plan is 200 units. The usage before the change counts against them first.
  expect(await remaining(purchase)).toEqual([130, 80, 50])
  await settle('2026-06-16T00:01:00Z')
  // The pack paid for 20 units under the plan before, which no longer count against the new one.
  expect(await packsOf(purchase)).toMatchObject([{ used: '20' }])
  expect(await remaining(purchase)).toEqual([130, 100, 30])
})

test('needs a running plan, is no change of it, and is refused with terms that it does not have', async () => {
  const customerRef = await payments.createCustomer()
  const request = { customerRef, productRef, planRef: fifty }
  const message = 'A pack needs a running plan of the product'
  const activate = (body: object) =>
    payments.call<ActivateResponse>('POST', '/v1/sdk/activate', body)
  expect((await activate(request)).body).toEqual({ status: 'invalid', message })
  expect(await payments.createIntent('alone', request)).toMatchObject({
    status: 400,
    body: { message },
  })
  const purchase = await shop.buy(plan)
  const held = { ...request, customerRef: purchase.customerRef }
  expect((await activate(held)).body).toMatchObject({ status: 'payment_required' })
  expect(await shop.purchase(purchase.reference)).toMatchObject({ status: 'active' })
  const create = (fields: object) =>
    payments.call('POST', `/v1/sdk/products/${productRef}/plans`, { name: 'Pack', ...fields })
  const units = { pack: { units: 5 } }
  for (const [fields, path] of [
    [{ type: 'one-time', ...units }, ['price']],
    [{ type: 'recurring', price: 500, ...units }, ['pack']],
    [{ type: 'one-time', price: 500, limit: 5, ...units }, ['limit']],
    [{ type: 'one-time', price: 500, pack: { units: 5, meter: 'none' } }, ['pack', 'meter']],
    [{ type: 'one-time', price: 500, pack: { units: 0 } }, ['pack', 'units']],
  ] as const) {
    expect(await create(fields)).toMatchObject({ status: 400, body: { errors: [{ path }] } })
  }
})

test('is refused to a customer with 100 packs', async () => {
  const purchase = await shop.buy(plan)
  await buyPack(purchase, fifty)
  const columns = shop.sql(await listColumns(shop.sql, 'purchases'))
  await shop.sql`
    insert into purchases (${columns}) select ${columns} from (
      select (jsonb_populate_record(purchases, jsonb_build_object(
        'reference', reference || '_' || copy))).* from purchases, generate_series(2, 100) as copy
      where customer_ref = ${purchase.customerRef} and is_pack) as copies`
  await shop.sql`
    insert into packs select (jsonb_populate_record(packs, jsonb_build_object(
      'purchase_ref', purchase_ref || '_' || copy))).* from packs, generate_series(2, 100) as copy
    where customer_ref = ${purchase.customerRef}`
  const request = { customerRef: purchase.customerRef, productRef, planRef: fifty }
  expect(await payments.createIntent('full', request)).toMatchObject({
    status: 400,
    body: { message: 'The customer has as many packs of the product as are allowed' },
  })
})

test('ends with its cancellation: used units stay paid', async () => {
  const purchase = await shop.buy(plan)
  await buyPack(purchase, fifty)
  await metered.use(purchase.customerRef, 110)
  const [bought] = await shop.purchasesOf(purchase.customerRef)
  waitAMinute()
  await payments.call('POST', `/v1/sdk/purchases/${bought!.reference}/cancel`, {})
  expect(await check(purchase)).toMatchObject({ withinLimits: false, remaining: 0 })
  await settle('2026-06-02T00:00:00Z')
  expect(await packsOf(purchase)).toEqual([{ used: '10', taken: '0' }])
  expect(await shop.purchase(purchase.reference)).toMatchObject({ status: 'active' })
})
