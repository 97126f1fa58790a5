import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { listUnbalancedWallets } from '@tollgate/domain/money-ledger/ledger'
import { listInvoices } from '@tollgate/domain/invoices/repository'
import type {
  CustomerNotChargedBody,
  CustomerNotSettledBody,
} from '@tollgate/schemas/http/customers'
import { startMeteredStack } from './metered-stack.ts'

/* A customer with an open invoice, unbilled usage or bought credits is only deleted if the request decides about them. */

const metered = await startMeteredStack()
const shop = metered.shop
const monthly = { billingCycle: 'monthly' }
const hybrid = { type: 'hybrid', basePrice: 4_900, creditsPerUnit: 100, ...monthly }
const hybridRef = await shop.payments.createPlan(hybrid)
const flatRef = await shop.payments.createPlan({ price: 1_900, ...monthly })
afterAll(() => metered.stop())
beforeEach(() => {
  shop.payments.stack.clock.set('2026-01-31T12:00:00Z')
  return async () => {
    await shop.sql`update purchases set status = 'expired', next_usage_bill_at = null, usage_closes_at = null`
    await shop.sql`update invoices set next_charge_at = null`
    expect(await unbalanced()).toEqual([])
    expect(await listUnbalancedWallets(shop.sql, 10)).toEqual([])
  }
})

type Answer = {
  readonly success?: boolean
  readonly open?: CustomerNotSettledBody['open']
  readonly uncharged?: CustomerNotChargedBody['uncharged']
}

/** Deletes the customer. Repeats the request while not all usage is stored. */
async function remove(customerRef: string, settle?: string) {
  const query = settle === undefined ? '' : `?settle=${settle}`
  for (let tries = 1; ; tries += 1) {
    const path = `/v1/ui/customers/${customerRef}${query}`
    const answer = await shop.payments.call<Answer>('DELETE', path)
    if (answer.status !== 503 || tries >= 10) return answer
  }
}

async function isThere(customerRef: string): Promise<boolean> {
  const { status } = await shop.payments.call('GET', `/v1/sdk/customers/${customerRef}`)
  return status === 200
}

/** Returns the transactions whose entries do not sum to 0. */
async function unbalanced(): Promise<readonly object[]> {
  return [
    ...(await shop.sql`
      select transaction_ref, unit from ledger_entries
      group by provider_id, transaction_ref, unit having sum(amount) <> 0`),
  ]
}

async function postedOf(customerRef: string, kind: string) {
  return [
    ...(await shop.sql<{ account: string; unit: string; amount: string }[]>`
      select account, unit, amount::text from ledger_entries
      join ledger_transactions using (provider_id)
      where transaction_ref = reference and kind = ${kind}
        and ledger_transactions.customer_ref = ${customerRef} order by account, unit collate "C"`),
  ]
}

async function invoicesOf(customerRef: string) {
  const page = { limit: 100, offset: 0 }
  const { providerId } = shop.payments.tenant
  const { invoices } = await listInvoices(shop.sql, providerId, { customerRef }, page)
  return invoices.map(({ status, totalMinor }) => `${status} ${totalMinor}`).sort()
}

async function charged(customerRef: string): Promise<number> {
  const rows = await shop.sql<{ id: string }[]>`
    select processor_payment_id as id from payment_intents
    where customer_ref = ${customerRef} and processor_payment_id is not null`
  let minor = 0
  for (const { id } of rows) {
    const { body } = await shop.payments.stripe('GET', 'charges', { payment_intent: id })
    for (const charge of body.data as unknown as { status: string; amount: number }[]) {
      if (charge.status === 'succeeded') minor += charge.amount
    }
  }
  return minor
}

async function withUsage(units: number, card?: string): Promise<string> {
  const { customerRef } = await shop.buy(hybridRef, card)
  shop.payments.stack.clock.set('2026-02-10T12:00:00Z')
  await metered.use(customerRef, units)
  return customerRef
}

describe('unbilled usage', () => {
  test('answers 409 with the amounts, and changes nothing', async () => {
    const customerRef = await withUsage(80)
    const { status, body } = await remove(customerRef)
    expect({ status, body }).toMatchObject({
      status: 409,
      body: {
        code: 'customer_not_settled',
        open: {
          amounts: [...[{ currency: 'USD', openInvoices: 0, carried: 0, unbilledUsage: 80 }]],
          invoices: [],
          boughtCredits: 0,
        },
      },
    })
    expect(await isThere(customerRef)).toBe(true)
    expect(await invoicesOf(customerRef)).toEqual(['paid 4900'])
  })

  test('is billed and charged before the customer is deleted', async () => {
    const customerRef = await withUsage(80)
    expect(await remove(customerRef, 'bill_now')).toMatchObject({ status: 200 })
    expect(await isThere(customerRef)).toBe(false)
    expect(await invoicesOf(customerRef)).toEqual(['paid 4900', 'paid 80'])
    expect(await charged(customerRef)).toBe(4_980)
    expect(await remove(customerRef, 'bill_now')).toMatchObject({ status: 200 })
    expect(await charged(customerRef)).toBe(4_980)
  })

  test('is billed once for the ended and once for the current period', async () => {
    const { customerRef } = await shop.buy(hybridRef)
    await metered.use(customerRef, 300, '2026-01-31T12:00:00Z')
    shop.payments.stack.clock.set('2026-02-28T12:30:00Z')
    await shop.runJob('renewals', '2026-02-28T12:30:00Z')
    await metered.use(customerRef, 70)
    expect((await remove(customerRef)).body.open?.amounts).toMatchObject([{ unbilledUsage: 370 }])
    expect(await remove(customerRef, 'bill_now')).toMatchObject({ status: 200 })
    expect(await invoicesOf(customerRef)).toEqual([
      ...['paid 300', 'paid 4900', 'paid 4900', 'paid 70'],
    ])
  })

  test('is billed even if the card is declined, and the customer is not deleted', async () => {
    const customerRef = await withUsage(80)
    await shop.replaceCard(customerRef, 'pm_card_chargeCustomerFail')
    const { status, body } = await remove(customerRef, 'bill_now')
    expect({ status, body }).toMatchObject({
      status: 402,
      body: {
        code: 'customer_not_charged',
        uncharged: [{ amount: 80, currency: 'USD', reason: 'declined' }],
      },
    })
    expect(await isThere(customerRef)).toBe(true)
    expect(await invoicesOf(customerRef)).toEqual(['open 80', 'paid 4900'])
    // The customer is kept. Further usage in the period is priced after the billed units.
    await shop.replaceCard(customerRef, 'pm_card_visa')
    await metered.use(customerRef, 60)
    expect((await remove(customerRef)).body.open?.amounts).toMatchObject([
      { openInvoices: 80, unbilledUsage: 60 },
    ])
    expect((await shop.purchasesOf(customerRef))[0]).toMatchObject({ status: 'active' })
    const { runnerSettings } = metered
    await shop.runJob('payment-retries', '2026-02-10T13:00:00Z', runnerSettings)
    await shop.runJob('renewals', '2026-02-28T13:00:00Z', runnerSettings)
    await shop.runJob('renewals', '2026-03-31T13:00:00Z', runnerSettings)
    await shop.runJob('usage-billing', '2026-04-01T13:00:00Z', runnerSettings)
    expect(await invoicesOf(customerRef)).toEqual([
      ...['paid 4900', 'paid 4900', 'paid 4900', 'paid 60', 'paid 80'],
    ])
    expect(await charged(customerRef)).toBe(14_840)
  })

  test('is written off in the ledger, and recorded in the audit log', async () => {
    const customerRef = await withUsage(80)
    expect(await remove(customerRef, 'write_off')).toMatchObject({ status: 200 })
    expect(await isThere(customerRef)).toBe(false)
    expect(await charged(customerRef)).toBe(4_900)
    expect(await postedOf(customerRef, 'usage_written_off')).toEqual([
      { account: 'revenue', unit: 'USD', amount: '-80' },
      { account: 'written_off', unit: 'USD', amount: '80' },
    ])
    const audited = await shop.sql`
      select 1 from audit_log join ledger_transactions as posted using (provider_id, reference)
      where posted.customer_ref = ${customerRef} and posted.kind = 'usage_written_off'
        and audit_log.kind = 'ledger_transactions' and actor like 'key:%'`
    expect(audited).toHaveLength(1)
    expect(await remove(customerRef, 'write_off')).toMatchObject({ status: 200 })
    expect(await postedOf(customerRef, 'usage_written_off')).toHaveLength(2)
  })

  test("is not charged below the processor's minimum, and can be written off", async () => {
    const customerRef = await withUsage(7)
    expect(await remove(customerRef, 'bill_now')).toMatchObject({
      status: 409,
      body: { uncharged: [{ amount: 7, currency: 'USD', reason: 'below_minimum' }] },
    })
    expect((await remove(customerRef)).body.open?.amounts).toMatchObject([{ carried: 7 }])
    expect(await remove(customerRef, 'write_off')).toMatchObject({ status: 200 })
    expect(await postedOf(customerRef, 'carried_written_off')).toEqual([
      { account: 'carried', unit: 'USD', amount: '-7' },
      { account: 'written_off', unit: 'USD', amount: '7' },
    ])
  })
})

describe('an open invoice', () => {
  async function withOpenRenewal(): Promise<string> {
    const { customerRef } = await shop.buy(flatRef)
    await shop.replaceCard(customerRef, 'pm_card_chargeCustomerFail')
    await shop.runJob('renewals', '2026-03-01T10:00:00Z')
    expect(await invoicesOf(customerRef)).toEqual(['open 1900', 'paid 1900'])
    return customerRef
  }

  test('answers 409, and bill_now charges it to the current card', async () => {
    const customerRef = await withOpenRenewal()
    const { status, body } = await remove(customerRef)
    expect({ status, body }).toMatchObject({
      status: 409,
      body: { open: { amounts: [{ currency: 'USD', openInvoices: 1_900 }] } },
    })
    expect(body.open?.invoices).toHaveLength(1)
    expect(await remove(customerRef, 'bill_now')).toMatchObject({
      status: 402,
      body: { uncharged: [{ amount: 1_900, reason: 'declined' }] },
    })
    expect(await isThere(customerRef)).toBe(true)
    await shop.replaceCard(customerRef, 'pm_card_visa')
    expect(await remove(customerRef, 'bill_now')).toMatchObject({ status: 200 })
    expect(await invoicesOf(customerRef)).toEqual(['paid 1900', 'paid 1900'])
    expect(await charged(customerRef)).toBe(3_800)
  })

  async function triesOf(customerRef: string) {
    const [row] = await shop.sql<{ counted: number; calls: number }[]>`
      select failed_charges as counted, (
        select count(*)::int from payment_attempts
        join payment_intents on payment_intents.reference = payment_attempts.intent_ref
        where payment_intents.invoice_ref = invoices.reference) as calls
      from invoices where customer_ref = ${customerRef} and status = 'open'`
    return { ...row }
  }

  test('does not count a failure of bill_now as an attempt of the billing runner', async () => {
    const customerRef = await withOpenRenewal()
    expect((await remove(customerRef, 'bill_now')).status).toBe(402)
    expect(await triesOf(customerRef)).toEqual({ counted: 1, calls: 2 })
    await shop.runJob('payment-retries', '2026-03-02T10:00:00Z')
    expect(await triesOf(customerRef)).toEqual({ counted: 2, calls: 3 })
  })

  test('is charged again by each bill_now, without counting as an attempt', async () => {
    const customerRef = await withOpenRenewal()
    expect((await remove(customerRef, 'bill_now')).status).toBe(402)
    expect((await remove(customerRef, 'bill_now')).status).toBe(402)
    expect(await triesOf(customerRef)).toEqual({ counted: 1, calls: 3 })
    await shop.runJob('payment-retries', '2026-03-02T10:00:00Z')
    expect(await triesOf(customerRef)).toEqual({ counted: 2, calls: 4 })
  })

  test('is charged again by the billing runner if bill_now tried first', async () => {
    const customerRef = await withUsage(80)
    await shop.replaceCard(customerRef, 'pm_card_chargeCustomerFail')
    expect((await remove(customerRef, 'bill_now')).status).toBe(402)
    expect(await triesOf(customerRef)).toEqual({ counted: 0, calls: 1 })
    await shop.runJob('payment-retries', '2026-02-10T13:00:00Z', metered.runnerSettings)
    expect(await triesOf(customerRef)).toEqual({ counted: 1, calls: 2 })
  })

  test('leaves an uncounted failure to the billing runner', async () => {
    const { customerRef } = await shop.buy(flatRef)
    await shop.replaceCard(customerRef, 'pm_card_chargeCustomerFail')
    await shop.runJob('renewals', '2026-03-01T10:00:00Z', {}, async (charge) => {
      expect((await charge()).kind).toBe('declined')
      return { kind: 'pending' }
    })
    expect(await triesOf(customerRef)).toEqual({ counted: 0, calls: 1 })
    expect(await remove(customerRef, 'bill_now')).toMatchObject({
      status: 402,
      body: { uncharged: [{ amount: 1_900, reason: 'declined' }] },
    })
    await shop.runJob('payment-retries', '2026-03-01T12:00:00Z')
    expect(await triesOf(customerRef)).toEqual({ counted: 1, calls: 1 })
  })

  test('is void with write_off if its period is in the future, not uncollectible', async () => {
    const customerRef = await withOpenRenewal()
    expect(await remove(customerRef, 'write_off')).toMatchObject({ status: 200 })
    await expect
      .poll(() => invoicesOf(customerRef), { timeout: 20_000 })
      .toEqual(['paid 1900', 'void 1900'])
    expect(await charged(customerRef)).toBe(1_900)
  })

  test('is uncollectible with write_off if it bills usage', async () => {
    const customerRef = await withUsage(80)
    await shop.replaceCard(customerRef, 'pm_card_chargeCustomerFail')
    expect((await remove(customerRef, 'bill_now')).status).toBe(402)
    expect(await remove(customerRef, 'write_off')).toMatchObject({ status: 200 })
    expect(await invoicesOf(customerRef)).toEqual(['paid 4900', 'uncollectible 80'])
    expect(await charged(customerRef)).toBe(4_900)
  })
})

describe('bought credits', () => {
  async function withCredits(): Promise<string> {
    const customerRef = await shop.payments.createCustomer()
    await shop.payWith(customerRef, 'pm_card_visa')
    return customerRef
  }

  test.each(['bill_now', 'write_off'])(
    'require a decision with 409, and are forfeited with %s',
    async (settle) => {
      const customerRef = await withCredits()
      expect(await remove(customerRef)).toMatchObject({
        status: 409,
        body: {
          open: { amounts: [{ currency: 'USD', boughtCredits: 1_000 }], boughtCredits: 100_000 },
        },
      })
      expect(await remove(customerRef, settle)).toMatchObject({ status: 200 })
      expect(await postedOf(customerRef, 'adjustment')).toEqual([
        { account: 'breakage', unit: 'USD', amount: '-1000' },
        { account: 'breakage', unit: 'credits', amount: '100000000000' },
        { account: 'prepaid', unit: 'USD', amount: '1000' },
        { account: 'wallet', unit: 'credits', amount: '-100000000000' },
      ])
    },
  )

  test('do not require a decision if they were granted', async () => {
    const customerRef = await shop.payments.createCustomer()
    const path = `/v1/sdk/customers/${customerRef}/credits`
    await shop.payments.call('POST', path, { credits: 500 })
    expect(await remove(customerRef)).toMatchObject({ status: 200 })
  })
})

test('deletes a customer without debts without a decision, and refuses an unknown decision', async () => {
  const { customerRef } = await shop.buy(flatRef)
  expect(await remove(customerRef, 'forget')).toMatchObject({ status: 400 })
  expect(await remove(customerRef)).toMatchObject({ status: 200 })
})

test('accepts the decision in the body', async () => {
  const customerRef = await withUsage(80)
  const path = `/v1/ui/customers/${customerRef}`
  const removed = await shop.payments.call('DELETE', path, { settle: 'write_off' })
  expect(removed.status).toBe(200)
})
