import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readCarried } from '@tollgate/domain/invoices/carried-amounts'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import type { ActivateResponse } from '@tollgate/schemas/http/activate'
import { eventually } from './payment-stack.ts'
import { RenewalStack } from './renewal-stack.ts'

/* Customers who paid for June change the plan on the 11th, and one of their payments is refunded on the 16th. */

let stack: RenewalStack
let small: string
let middle: string
let big: string
let first: Purchase

const monthly = { billingCycle: 'monthly', prorationPolicy: 'proportional' }
const julyFirst = new Date('2026-07-01T00:00:00Z')

beforeAll(async () => {
  stack = await RenewalStack.start({ hasWebhooks: true })
  const { payments } = stack
  small = await payments.createPlan({ price: 1_900, ...monthly })
  middle = await payments.createPlan({ price: 4_900, ...monthly })
  big = await payments.createPlan({ price: 9_900, ...monthly })
})
afterAll(() => stack.stop())
beforeEach(() => {
  setClock('2026-06-01T00:00:00Z')
})

function setClock(at: string): void {
  stack.payments.stack.clock.set(at)
}

async function buyThenWait(planRef: string): Promise<Purchase> {
  first = await stack.buy(planRef)
  setClock('2026-06-11T00:00:00Z')
  return first
}

/** Pays for the change. Returns the purchase that begins with it. */
async function changeTo(planRef: string): Promise<Purchase> {
  await stack.pay(first.customerRef, planRef, 'pm_card_visa')
  return held()
}

async function activate(planRef: string): Promise<Purchase> {
  const { payments } = stack
  const { customerRef } = first
  const request = { customerRef, productRef: payments.productRef, planRef }
  const { body } = await payments.call<ActivateResponse>('POST', '/v1/sdk/activate', request)
  expect(body.status).toBe('activated')
  return held()
}

async function purchases(): Promise<Purchase[]> {
  return (await stack.purchasesOf(first.customerRef)).toReversed()
}

/** Creates a plan that starts a new period at its full price. */
function createFullPlan(): Promise<string> {
  const plan = { price: 2_900, billingCycle: 'monthly', prorationPolicy: 'full' }
  return stack.payments.createPlan(plan)
}

async function held(): Promise<Purchase> {
  return (await purchases()).find(({ status }) => status === 'active')!
}

async function statuses(): Promise<Record<string, string>> {
  const names = new Map([
    [small, 'small'],
    [middle, 'middle'],
    [big, 'big'],
  ])
  const found = await purchases()
  return Object.fromEntries(found.map(({ planRef, status }) => [names.get(planRef!)!, status]))
}

/** Refunds the purchase's first payment in full or in part. */
async function refund({ reference }: Purchase, amount?: number): Promise<void> {
  setClock('2026-06-16T00:00:00Z')
  await refundNow(reference, amount)
}

async function refundNow(reference: string, amount?: number): Promise<void> {
  const [row] = await stack.sql<{ id: string }[]>`
    select processor_payment_id as id from payment_intents
    where purchase_ref = ${reference} and status = 'succeeded' order by created_at limit 1`
  const part = amount === undefined ? {} : { amount: String(amount) }
  const { payments } = stack
  const request = { payment_intent: row!.id, ...part }
  const { body } = await payments.stripe('POST', 'refunds', request)
  await eventually(async () =>
    expect(await payments.eventsOf(body.id)).toContain('payment.refunded'),
  )
}

async function purchaseEvents(): Promise<string[]> {
  const events = await stack.payments.eventsOf(first.customerRef)
  return events.filter((type) => type.startsWith('purchase.'))
}

describe('a full refund of a change of plan', () => {
  test('restores the replaced purchase for the rest of its period', async () => {
    await buyThenWait(small)
    const changed = await changeTo(middle)
    const before = (await purchaseEvents()).length
    await refund(changed)
    expect(await statuses()).toEqual({ small: 'active', middle: 'refunded' })
    expect(await held()).toMatchObject({
      reference: first.reference,
      autoRenew: true,
      nextBillingDate: julyFirst,
      endedAt: null,
    })
    expect((await purchaseEvents()).slice(before)).toEqual([
      'purchase.refunded',
      'purchase.activated',
      'purchase.plan_changed',
    ])
    const listed = await stack.payments.purchasesOf(first.customerRef)
    expect(listed.map(({ reference, status }) => [reference, status])).toContainEqual([
      first.reference,
      'active',
    ])
    await stack.runJob('renewals', '2026-07-01T10:00:00Z')
    expect(await stack.invoicesOf(first.reference)).toMatchObject([
      { status: 'paid', totalMinor: 1_900n },
    ])
    expect(await held()).toMatchObject({ nextBillingDate: new Date('2026-08-01T00:00:00Z') })
  })

  test('is applied once, however often the processor reports it', async () => {
    await buyThenWait(small)
    const changed = await changeTo(middle)
    const { payments } = stack
    await payments.simulate('webhooks', { isHeld: true, order: 'reversed', copies: 3 })
    setClock('2026-06-16T00:00:00Z')
    const [{ id } = { id: '' }] = await stack.sql<{ id: string }[]>`
      select processor_payment_id as id from payment_intents where purchase_ref = ${changed.reference}`
    await payments.stripe('POST', 'refunds', { payment_intent: id, amount: '500' })
    await payments.stripe('POST', 'refunds', { payment_intent: id })
    await payments.simulate('webhooks/flush')
    await payments.simulate('webhooks', { isHeld: false, order: 'created', copies: 1 })
    await eventually(async () =>
      expect(await statuses()).toEqual({ small: 'active', middle: 'refunded' }),
    )
    const events = await purchaseEvents()
    expect(events.filter((type) => type === 'purchase.refunded')).toHaveLength(1)
    expect(events.filter((type) => type === 'purchase.plan_changed')).toHaveLength(2)
  })

  test('keeps the new plan if it is partial', async () => {
    await buyThenWait(small)
    await refund(await changeTo(middle), 1_999)
    expect(await statuses()).toEqual({ small: 'expired', middle: 'active' })
  })

  test('keeps a cancellation that was pending', async () => {
    await buyThenWait(small)
    await stack.payments.call('POST', `/v1/sdk/purchases/${first.reference}/cancel`)
    await refund(await changeTo(middle))
    expect(await held()).toMatchObject({
      reference: first.reference,
      autoRenew: false,
      nextBillingDate: null,
      endDate: julyFirst,
    })
  })

  test('restores a plan that was replaced by a plan at its full price', async () => {
    const full = await createFullPlan()
    await buyThenWait(small)
    const changed = await changeTo(full)
    await refund(changed)
    expect(await held()).toMatchObject({ reference: first.reference, nextBillingDate: julyFirst })
    const { windowsTakenIn } = await held()
    expect(windowsTakenIn).toHaveLength(1)
    // Usage of the undone plan counts in the same allowance, whichever purchase is published.
    expect(await changeTo(middle)).toMatchObject({ planRef: middle, windowsTakenIn })
  })

  test('restores nothing once the period is over', async () => {
    await buyThenWait(small)
    const changed = await changeTo(middle)
    setClock('2026-07-01T00:00:01Z')
    await refundNow(changed.reference)
    expect(await statuses()).toEqual({ small: 'expired', middle: 'refunded' })
  })

  test('keeps the new plan once it was renewed', async () => {
    await buyThenWait(small)
    const changed = await changeTo(middle)
    await stack.runJob('renewals', '2026-07-01T10:00:00Z')
    await refundNow(changed.reference)
    expect(await statuses()).toEqual({ small: 'expired', middle: 'active' })
  })

  test('restores nothing if another plan was bought since', async () => {
    const full = await createFullPlan()
    await buyThenWait(small)
    const changed = await changeTo(middle)
    setClock('2026-06-12T00:00:00Z')
    const other = await changeTo(full)
    await refund(changed)
    expect(await held()).toMatchObject({ reference: other.reference })
    expect(await statuses()).toMatchObject({ small: 'expired', middle: 'refunded' })
  })
})

describe('of two changes in one period', () => {
  test('a refund of the second restores the first', async () => {
    await buyThenWait(small)
    await changeTo(middle)
    setClock('2026-06-13T00:00:00Z')
    await refund(await changeTo(big))
    expect(await statuses()).toEqual({ small: 'expired', middle: 'active', big: 'refunded' })
    expect(await held()).toMatchObject({ nextBillingDate: julyFirst })
  })

  test('a refund of the first ends both, and restores the original plan', async () => {
    await buyThenWait(small)
    const changed = await changeTo(middle)
    setClock('2026-06-13T00:00:00Z')
    await changeTo(big)
    await refund(changed)
    expect(await statuses()).toEqual({ small: 'active', middle: 'refunded', big: 'refunded' })
  })

  test('refunds of both restore the original plan, in either order', async () => {
    await buyThenWait(small)
    const changed = await changeTo(middle)
    setClock('2026-06-13T00:00:00Z')
    const last = await changeTo(big)
    await refund(last)
    await refund(changed)
    expect(await statuses()).toEqual({ small: 'active', middle: 'refunded', big: 'refunded' })
    await refund(first)
    expect(await held()).toBeUndefined()
  })
})

describe('a full refund of the payment before the changes', () => {
  test('ends the more expensive plan that was paid by the difference', async () => {
    await buyThenWait(small)
    await changeTo(middle)
    await refund(first)
    expect(await statuses()).toEqual({ small: 'refunded', middle: 'refunded' })
  })

  test('ends the cheaper plan, and removes the credit for the next invoice', async () => {
    await buyThenWait(middle)
    await activate(small)
    const { providerId } = stack.payments.tenant
    const name = { customerRef: first.customerRef, currency: 'USD' }
    expect(await readCarried(stack.sql, providerId, name)).toBe(-2_000n)
    const [credit] = await stack.sql<[{ number: bigint }]>`
      select number from invoices where customer_ref = ${first.customerRef}
      order by number desc limit 1`
    await refund(first)
    expect(await statuses()).toEqual({ small: 'refunded', middle: 'refunded' })
    expect(await readCarried(stack.sql, providerId, name)).toBe(0n)
    const [line] = await stack.sql<{ description: string }[]>`
      select description from invoice_lines
      join invoices on invoices.provider_id = invoice_lines.provider_id and reference = invoice_ref
      where customer_ref = ${first.customerRef} and number > ${credit.number.toString()}`
    const digits = credit.number.toString().padStart(6, '0')
    expect(line?.description).toMatch(new RegExp(`, taken back from TEST-INV-${digits}$`))
  })

  test('keeps the new plan once it was renewed', async () => {
    await buyThenWait(small)
    await changeTo(middle)
    await stack.runJob('renewals', '2026-07-01T10:00:00Z')
    await refundNow(first.reference)
    expect(await statuses()).toMatchObject({ middle: 'active' })
  })

  test('changes nothing if it is partial', async () => {
    await buyThenWait(small)
    await changeTo(middle)
    await refund(first, 1_000)
    expect(await statuses()).toEqual({ small: 'expired', middle: 'active' })
  })
})

test('suspends the plan that was paid by the difference if the earlier payment is charged back', async () => {
  await buyThenWait(small)
  const changed = await changeTo(middle)
  const [{ id } = { id: '' }] = await stack.sql<{ id: string }[]>`
    select processor_payment_id as id from payment_intents where purchase_ref = ${first.reference}`
  const { payments } = stack
  const { body } = await payments.stripe('GET', 'charges', { payment_intent: id })
  const happened = await payments.simulate(`charges/${body.data![0]!.id}/dispute`, {})
  await payments.simulate(`disputes/${String(happened['id'])}/close`, { ending: 'lost' })
  await eventually(async () =>
    expect(await stack.purchase(changed.reference)).toMatchObject({ status: 'suspended' }),
  )
})
