import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import type { ProcessedPaymentBody } from '@tollgate/schemas/http/payment-intents'
import { eventually, PaymentStack } from './payment-stack.ts'

/* Movements of money after a payment, in the ledger and in purchased credits. Uses the simulator over HTTP. */

let customerRef: string
let sequence = 0

let payments = await PaymentStack.start({ hasWebhooks: true })
afterAll(() => payments.stop())
beforeEach(async () => {
  customerRef = await payments.createCustomer()
})

type Paid = { readonly id: string; readonly fee: number }

async function pay(request: object, card?: string): Promise<Paid> {
  sequence += 1
  const { body } = await payments.createIntent(`flow-${sequence}`, { customerRef, ...request })
  await payments.confirm(body.processorPaymentId, card)
  const processed = await payments.process<ProcessedPaymentBody>(
    body.processorPaymentId,
    customerRef,
  )
  expect(processed.body.status).toBe('succeeded')
  const { fees } = await balancesWithFee()
  return { id: body.processorPaymentId, fee: fees }
}

const topUp = (amount: number, card?: string): Promise<Paid> =>
  pay({ purpose: 'credit_topup', amount, currency: 'usd' }, card)

/** Returns the customer's ledger balances by account, without accounts with a balance of 0. */
async function accounts(): Promise<Record<string, number>> {
  const rows = await payments.sql<{ account: string; sum: string }[]>`
    select account, sum(amount) from ledger_entries
    where customer_ref = ${customerRef} and unit = 'USD' group by account having sum(amount) <> 0`
  return Object.fromEntries(rows.map(({ account, sum }) => [account, Number(sum)]))
}

/** Waits for the expected balances, because credits are taken back some time after a refund. */
function expectBalances(expected: Record<string, number>): Promise<void> {
  return eventually(async () => expect(await accounts()).toEqual(expected))
}

/** Waits until the processor's fee is posted, and returns the balances. */
async function balancesWithFee(): Promise<Record<string, number> & { fees: number }> {
  let found: Record<string, number> = {}
  await eventually(async () => {
    found = await accounts()
    expect(found).toHaveProperty('fees')
  })
  return found as Record<string, number> & { fees: number }
}

const credits = () => payments.balanceOf(customerRef)

async function refund(paymentId: string, amount?: number): Promise<string> {
  const part = amount === undefined ? {} : { amount: String(amount) }
  const { body } = await payments.stripe('POST', 'refunds', { payment_intent: paymentId, ...part })
  return body.id
}

async function chargeOf(paymentId: string): Promise<string> {
  const { body } = await payments.stripe('GET', 'charges', { payment_intent: paymentId })
  return body.data![0]!.id
}

async function adjustments(): Promise<string[]> {
  const events = await payments.eventsOf(customerRef)
  return events.filter((type) => type === 'customer.credit.adjusted')
}

describe('a top-up', () => {
  test("is a liability until its credits are used, with the processor's fee posted", async () => {
    const { fee } = await topUp(2_000)
    expect(fee).toBeGreaterThan(0)
    await expectBalances({ clearing: 2_000 - fee, fees: fee, prepaid: -2_000 })
  })

  test('loses its credits with each partial refund', async () => {
    const { id, fee } = await topUp(1_999)
    await refund(id, 1_000)
    await eventually(async () => expect(await credits()).toBe(199_900 - 100_000))
    await expectBalances({ clearing: 999 - fee, fees: fee, prepaid: -999 })
    await refund(id)
    await eventually(async () => expect(await credits()).toBe(0))
    await expectBalances({ clearing: -fee, fees: fee })
  })

  test('receives its credits again if the refund fails', async () => {
    const { id, fee } = await topUp(2_000)
    const refundId = await refund(id)
    // Credits are held before they are taken back. If the refund fails first, the hold is released.
    await eventually(async () => expect(await adjustments()).toHaveLength(1))
    expect(await credits()).toBe(0)
    await payments.simulate(`refunds/${refundId}/end`, { status: 'failed' })
    await eventually(async () => expect(await credits()).toBe(200_000))
    await expectBalances({ clearing: 2_000 - fee, fees: fee, prepaid: -2_000 })
    expect(await adjustments()).toHaveLength(2)
  })

  test.each([
    ['won', 200_000, { clearing: 2_000, prepaid: -2_000 }],
    ['lost', 0, {}],
  ])('loses its credits while it is disputed: %s', async (ending, left, money) => {
    const { id, fee } = await topUp(2_000)
    const happened = await payments.simulate(`charges/${await chargeOf(id)}/dispute`, {})
    await eventually(async () => expect(await credits()).toBe(0))
    await payments.simulate(`disputes/${String(happened['id'])}/close`, { ending })
    await eventually(async () =>
      expect(await payments.eventsOf(String(happened['id']))).toContain('payment.dispute_closed'),
    )
    await eventually(async () => expect(await credits()).toBe(left))
    const fees = fee + 1_500
    const expected = { clearing: 0, ...money }
    await eventually(
      async () => await expectBalances({ ...money, clearing: expected.clearing - fees, fees }),
    )
  })
})

describe('a plan', () => {
  test('is revenue once it is paid, and no longer once it is refunded', async () => {
    const planRef = await payments.createPlan({ price: 1_900 })
    const { id, fee } = await pay({ productRef: payments.productRef, planRef })
    await expectBalances({ clearing: 1_900 - fee, fees: fee, revenue: -1_900 })
    await refund(id, 400)
    await expectBalances({ clearing: 1_500 - fee, fees: fee, revenue: -1_500 })
  })

  test('stays active as long as one of several payments for its credits is not refunded', async () => {
    const planRef = await payments.createPlan({ type: 'usage-based', creditsPerUnit: 700 })
    const request = { productRef: payments.productRef, planRef }
    const first = await pay(request)
    const later = await pay(request)
    const statusOf = async (): Promise<string | undefined> => {
      return (await payments.purchasesOf(customerRef))[0]?.status
    }
    await refund(later.id)
    await eventually(async () => expect(await credits()).toBe(5_600))
    expect(await statusOf()).toBe('active')
    await refund(first.id)
    await eventually(async () => expect(await statusOf()).toBe('refunded'))
    await eventually(async () => expect(await credits()).toBe(0))
  })
})

test('clears paid amounts with a payout', async () => {
  const alone = await PaymentStack.start({ hasWebhooks: true })
  const before = [payments, customerRef] as const
  try {
    payments = alone
    customerRef = await payments.createCustomer()
    await topUp(5_000, 'pm_card_bypassPending')
    const { clearing } = await accounts()
    const amount = String(clearing)
    const payout = (await payments.stripe('POST', 'payouts', { amount, currency: 'usd' })).body
    await payments.simulate(`payouts/${payout.id}/move`, { status: 'paid' })
    const total = async (): Promise<Record<string, number>> => {
      const rows = await payments.sql<{ account: string; sum: string }[]>`
        select account, sum(amount) from ledger_entries where unit = 'USD'
        group by account having sum(amount) <> 0`
      return Object.fromEntries(rows.map(({ account, sum }) => [account, Number(sum)]))
    }
    const fees = 5_000 - clearing!
    const paidOut = { bank: clearing, fees, prepaid: -5_000 }
    await eventually(async () => expect(await total()).toEqual(paidOut))
    await payments.simulate(`payouts/${payout.id}/move`, { status: 'failed' })
    await eventually(async () => expect(await total()).toEqual({ clearing, fees, prepaid: -5_000 }))
  } finally {
    ;[payments, customerRef] = before
    await alone.stop()
  }
})
