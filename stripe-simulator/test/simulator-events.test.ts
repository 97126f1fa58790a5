import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type {
  PaymentProcessor,
  ProcessorEvent,
} from '@tollgate/platform/payments/payment-processor'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openSimulator, webhookSecret, type SimulatorUnderTest } from './simulator-under-test.ts'

let receiver: Server
let received: ProcessorEvent[]
/** Number of the next deliveries that the receiver refuses. */
let refusals: number
let opened: SimulatorUnderTest
let processor: PaymentProcessor
let customerId: string
let keys = 0

beforeEach(async () => {
  received = []
  refusals = 0
  receiver = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const header = String(request.headers['stripe-signature'])
      const verdict = processor.verifyWebhook(Buffer.concat(chunks), header, new Date())
      if (verdict.verdict === 'genuine' && refusals === 0) received.push(verdict.event)
      response.writeHead(verdict.verdict === 'genuine' && refusals === 0 ? 200 : 500).end()
      refusals = Math.max(0, refusals - 1)
    })
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
  opened = await openSimulator({ webhooks: { test: { url, secret: webhookSecret } } })
  processor = opened.processor
  await opened.admin('webhooks', { isHeld: true })
  const made = await processor.ensureCustomer({ metadata: {} }, newKey())
  if (made.outcome !== 'done') throw new Error(made.message)
  customerId = made.value.id
  await deliveredTypes()
})

afterEach(async () => {
  await opened.close()
  receiver.closeAllConnections()
  receiver.close()
})

function newKey(): string {
  return `key-${++keys}`
}

/** Returns the types of the events since the last call, in the order of arrival. */
async function deliveredTypes(): Promise<readonly string[]> {
  await opened.admin('webhooks/flush')
  return received.splice(0).map(({ type }) => type)
}

type Paid = { readonly id: string; readonly chargeId: string }

async function pay(paymentMethodId: string, presence: 'on_session' | 'off_session'): Promise<Paid> {
  const outcome = await processor.createPaymentIntent(
    {
      amountMinor: 10_000n,
      currency: 'USD',
      customerId,
      metadata: {},
      confirm: { paymentMethodId, presence, returnUrl: 'http://127.0.0.1/back?a=1' },
    },
    newKey(),
  )
  if (!('intent' in outcome) || outcome.intent === undefined) throw new Error(outcome.outcome)
  return { id: outcome.intent.id, chargeId: outcome.intent.chargeId ?? '' }
}

test('sends events of a payment that name the object and not its state', async () => {
  const { id } = await pay('pm_card_visa', 'on_session')
  await opened.admin('webhooks/flush')
  const types = received.map(({ type }) => type)
  expect(types).toEqual(['payment_intent.created', 'charge.succeeded', 'payment_intent.succeeded'])
  expect(received.at(-1)).toMatchObject({ objectId: id, objectKind: 'payment_intent' })
  expect(new Set(received.map((event) => event.id)).size).toBe(3)
})

test('sends webhooks late, twice, in reverse order, not at all, and again after a refusal', async () => {
  await pay('pm_card_visa', 'on_session')
  await opened.admin('webhooks', { order: 'reversed', copies: 2 })
  expect(await deliveredTypes()).toEqual([
    ...['payment_intent.succeeded', 'payment_intent.succeeded'],
    ...['charge.succeeded', 'charge.succeeded'],
    ...['payment_intent.created', 'payment_intent.created'],
  ])
  await opened.admin('webhooks', { order: 'created', copies: 1, dropNext: 2 })
  await pay('pm_card_visa', 'on_session')
  expect(await deliveredTypes()).toEqual(['payment_intent.succeeded'])
  refusals = 1
  await pay('pm_card_visa', 'on_session')
  expect(await deliveredTypes()).toEqual(['charge.succeeded', 'payment_intent.succeeded'])
  expect(await deliveredTypes()).toEqual(['payment_intent.created'])
  expect(await deliveredTypes()).toEqual([])
})

test('sends webhooks by itself if they are not held', async () => {
  await opened.admin('webhooks', { isHeld: false })
  await pay('pm_card_visa', 'on_session')
  await expect.poll(() => received.length).toBe(3)
})

async function page(url: string, form?: Record<string, string>): Promise<Response> {
  const init = form && { method: 'POST', body: new URLSearchParams(form) }
  return await fetch(url, { redirect: 'manual', ...init })
}

async function bankPage(id: string): Promise<{ url: string; secret: string }> {
  const intent = await processor.retrieve('payment_intent', id)
  if (intent?.nextAction?.kind !== 'redirect') throw new Error('There is nothing to do.')
  return { url: intent.nextAction.url, secret: intent.clientSecret ?? '' }
}

test.each([
  ['accept', 'succeeded', 'succeeded'],
  ['refuse', 'failed', 'open'],
])('ends the authentication if the customer answers %s', async (answer, redirectStatus, status) => {
  const { id } = await pay('pm_card_authenticationRequired', 'on_session')
  const { url, secret } = await bankPage(id)
  expect(await (await page(url)).text()).toContain('$100.00')
  const left = await page(url, { client_secret: secret, answer })
  expect(left.status).toBe(303)
  const back = new URL(left.headers.get('location') ?? '')
  expect(Object.fromEntries(back.searchParams)).toEqual({
    a: '1',
    payment_intent: id,
    payment_intent_client_secret: secret,
    redirect_status: redirectStatus,
  })
  expect(await processor.retrieve('payment_intent', id)).toMatchObject({ status })
  const again = await page(url, { client_secret: secret, answer: 'accept' })
  expect(await again.text()).toContain('Nothing to do')
})

test('refuses an authentication without the client secret', async () => {
  const { id } = await pay('pm_card_authenticationRequired', 'on_session')
  const { url } = await bankPage(id)
  const other = new URL(url)
  other.searchParams.set('client_secret', `${id}_secret_guessed`)
  expect((await page(other.href)).status).toBe(404)
  expect((await page(url, { client_secret: '', answer: 'accept' })).status).toBe(404)
  expect(await processor.retrieve('payment_intent', id)).toMatchObject({
    status: 'requires_action',
  })
})

test('accepts a payment in the card form after a wrong number and 3-D Secure, and saves the card', async () => {
  const created = await processor.createPaymentIntent(
    { amountMinor: 700n, currency: 'USD', customerId, metadata: {}, keepsCard: true },
    newKey(),
  )
  if (created.outcome !== 'open') throw new Error(created.outcome)
  const { id, clientSecret = '' } = created.intent
  const fields = { client_secret: clientSecret, return_url: 'http://127.0.0.1/back' }
  const url = `${opened.simulator.url}/_simulator/card/${id}?${new URLSearchParams(fields).toString()}`
  expect(await (await page(url)).text()).toContain('Pay by card')
  const card = { ...fields, exp_month: '12', exp_year: '2040', cvc: '123' }
  const wrong = await page(url, { ...card, number: '4242 4242 4242 4243' })
  expect([wrong.status, await wrong.text()]).toEqual([402, expect.stringContaining('incorrect')])
  const asked = await page(url, { ...card, number: '4000 0025 0000 3155' })
  const bank = new URL(asked.headers.get('location') ?? '', opened.simulator.url)
  const back = await page(bank.href, { client_secret: clientSecret, answer: 'accept' })
  expect(back.headers.get('location')).toContain('http://127.0.0.1/back?payment_intent=')
  const [kept] = await processor.listPaymentMethods(customerId)
  expect(kept).toMatchObject({ card: { last4: '3155', expYear: 2040 } })
  // After one authentication, the bank accepts off-session charges.
  const { id: later } = await pay(kept?.id ?? '', 'off_session')
  expect(await processor.retrieve('payment_intent', later)).toMatchObject({ status: 'succeeded' })
})

test('ends processing payments on the simulated clock', async () => {
  const paid = await pay('pm_card_simulator_processing', 'on_session')
  const failed = await pay('pm_card_simulator_processingFails', 'on_session')
  for (const { id } of [paid, failed]) {
    expect(await processor.retrieve('payment_intent', id)).toMatchObject({ status: 'processing' })
    expect(await processor.cancelPaymentIntent(id, newKey())).toMatchObject({
      outcome: 'processing',
    })
  }
  await opened.admin('clock', { advanceSeconds: 5 })
  expect(await processor.retrieve('payment_intent', paid.id)).toMatchObject({ status: 'succeeded' })
  expect(await processor.retrieve('payment_intent', failed.id)).toMatchObject({
    status: 'open',
    lastDecline: { code: 'card_declined' },
  })
  expect(await processor.retrieve('charge', failed.chargeId)).toMatchObject({ status: 'failed' })
})

test.each([
  ['pm_card_pendingRefund', 'pending', 'succeeded', 10_000n, ['refund.updated']],
  [
    'pm_card_refundFail',
    'succeeded',
    'failed',
    0n,
    ['refund.updated', 'refund.failed', 'charge.refund.updated'],
  ],
])('a refund to %s is %s, then %s', async (token, first, then, refundedMinor, events) => {
  const { id, chargeId } = await pay(token, 'on_session')
  await deliveredTypes()
  const whole = { paymentIntentId: id, currency: 'USD', metadata: {} }
  const refund = await processor.createRefund(whole, newKey())
  if (refund.outcome !== 'done') throw new Error(refund.message)
  expect(refund.value.status).toBe(first)
  expect(await deliveredTypes()).toEqual(['refund.created', 'charge.refunded'])
  await opened.admin('clock', { advanceSeconds: 5 })
  expect(await processor.retrieve('refund', refund.value.id)).toMatchObject({ status: then })
  expect(await processor.retrieve('charge', chargeId)).toMatchObject({ refundedMinor })
  expect(await deliveredTypes()).toEqual(events)
})

test('withdraws the money and a fee for a dispute, and returns the money if it is won', async () => {
  const { chargeId } = await pay('pm_card_createDispute', 'on_session')
  await opened.admin('webhooks/flush')
  const created = received.find(({ type }) => type === 'charge.dispute.created')
  const id = created?.objectId ?? ''
  expect(created?.objectKind).toBe('dispute')
  expect(await processor.retrieve('dispute', id)).toMatchObject({
    status: 'needs_response',
    amountMinor: 10_000n,
    chargeId,
    movements: [{ amountMinor: -10_000n, feeMinor: 1_500n, netMinor: -11_500n }],
  })
  received = []
  await opened.admin(`disputes/${id}/close`, { ending: 'won' })
  const won = await processor.retrieve('dispute', id)
  expect(won).toMatchObject({ status: 'won' })
  expect(won?.movements.map(({ amountMinor }) => amountMinor)).toEqual([-10_000n, 10_000n])
  expect(await deliveredTypes()).toEqual([
    'charge.dispute.funds_reinstated',
    'charge.dispute.closed',
  ])
  await expect(opened.admin(`disputes/${id}/close`, { ending: 'lost' })).rejects.toThrow('closed')
})

test('fails a payout that was paid before', async () => {
  await pay('pm_card_bypassPending', 'on_session')
  await deliveredTypes()
  const response = await fetch(`${opened.simulator.url}/v1/payouts`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk_test_1' },
    body: new URLSearchParams({ amount: '9000', currency: 'usd' }),
  })
  const { id } = (await response.json()) as { id: string }
  expect(await processor.retrieve('payout', id)).toMatchObject({
    status: 'pending',
    amountMinor: 9_000n,
  })
  await opened.admin('clock', { advanceSeconds: 2 * 86_400 })
  expect(await processor.retrieve('payout', id)).toMatchObject({ status: 'paid' })
  await opened.admin(`payouts/${id}/move`, { status: 'failed' })
  expect(await processor.retrieve('payout', id)).toMatchObject({
    status: 'failed',
    failureCode: 'account_closed',
  })
  expect(await deliveredTypes()).toEqual([
    'payout.created',
    'payout.updated',
    'payout.paid',
    'payout.failed',
  ])
})

test('refuses to move the clock back, and refuses form posts of other sites', async () => {
  await expect(opened.admin('clock', { now: 1 })).rejects.toThrow('moved back')
  const url = `${opened.simulator.url}/_simulator/clock`
  const form = await fetch(url, { method: 'POST', body: new URLSearchParams({ now: '1' }) })
  expect(form.status).toBe(415)
})
