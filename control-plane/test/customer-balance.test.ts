import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type {
  BalancePayoutBody,
  CustomerBalanceBody,
} from '@tollgate/schemas/http/customer-balances'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import type { InvoiceBody, InvoiceItemBody } from '@tollgate/schemas/http/invoices'
import { createUser, quickPasswords, signIn } from './console-user.ts'
import { issueSample, sampleLines } from './printed-invoice.ts'
import { readPdf } from './read-pdf.ts'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

/* Through the API: invoices of their own lines, items of the next invoice, and the balance of a customer. */

let stack: TestStack
let tenant: Tenant
let viewer: string
let customerRef: string
let customers = 0

beforeAll(async () => {
  stack = await startTestStack({ settings: quickPasswords })
  tenant = await stack.createTenant()
  await createUser(stack, tenant, 'viewer@example.com', 'member')
  viewer = (await signIn(stack, 'viewer@example.com')).accessToken
})
afterAll(() => stack.stop())
beforeEach(async () => {
  const who = { email: `ada${customers}@example.com`, externalRef: `user_${customers++}` }
  const { body } = await call<CustomerBody>('POST', '/v1/sdk/customers', who)
  customerRef = body.reference
})

function call<Body>(method: string, path: string, body?: object, key?: string, by?: string) {
  return stack.callRaw<Body & { readonly code?: string }>(by ?? tenant.sandboxKey, method, path, {
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    headers: key === undefined ? {} : { 'idempotency-key': key },
  })
}

const path = (below: string) => `/v1/ui/customers/${customerRef}/${below}`
const reason = 'decided'
const work = { description: 'Work', unitAmount: 1_999, quantity: 1.5 }

test('issues an invoice of its own lines once for a key', async () => {
  const wanted = {
    ...{ customerRef, currency: 'usd', dueAt: '2030-01-01T00:00:00Z', reason },
    lines: [work, { description: 'Set-up', amount: 500 }],
  }
  const first = await call<InvoiceBody>('POST', '/v1/ui/invoices', wanted, `own-${customerRef}`)
  expect(first.status).toBe(201)
  // 1.5 times 19.99 is 29.985, rounded once.
  expect(first.body).toMatchObject({
    ...{ status: 'open', total: 3_499, due: 3_499, dueAt: '2030-01-01T00:00:00.000Z' },
    lines: [{ kind: 'item', amount: 2_999 }, { amount: 500 }],
    decisions: [{ kind: 'issued', amount: 3_499, reason }],
  })
  const printed = await stack.fetch(`/v1/ui/invoices/${first.body.reference}/pdf`, {
    headers: { authorization: `Bearer ${tenant.sandboxKey}` },
  })
  const { pages } = await readPdf(Buffer.from(await printed.arrayBuffer()))
  expect(pages.join('\n')).toMatch(/Work[^]*1\.5[^]*\$19\.99[^]*\$29\.99/)
  expect(pages.join('\n')).toMatch(/Due[^]*2030/)
  const again = await call<InvoiceBody>('POST', '/v1/ui/invoices', wanted, `own-${customerRef}`)
  expect(again.body.reference).toBe(first.body.reference)
  const other = { ...wanted, lines: [work] }
  const refused = await call('POST', '/v1/ui/invoices', other, `own-${customerRef}`)
  expect(refused).toMatchObject({ status: 409, body: { code: 'idempotency_key_reused' } })
  const invoicePath = `/v1/ui/invoices/${first.body.reference}`
  for (const [action, isHeld] of Object.entries({ hold: true, release: false })) {
    const { body } = await call<InvoiceBody>('POST', `${invoicePath}/${action}`, { reason })
    expect(body).toMatchObject({ isHeld })
  }
  const later = { dueAt: '2031-01-01T00:00:00Z', reason }
  const moved = await call<InvoiceBody>('POST', `${invoicePath}/due-date`, later)
  expect(moved.body).toMatchObject({ dueAt: '2031-01-01T00:00:00.000Z' })
})

test.each([
  [{ lines: [] }],
  [{ lines: [{ description: 'Work' }] }],
  [{ lines: [{ description: 'Work', amount: 5, unitAmount: 5, quantity: 1 }] }],
  [{ lines: [{ description: 'Work', unitAmount: 5 }] }],
  [{ lines: [{ description: 'Work', unitAmount: 5, quantity: 0 }] }],
  [{ lines: [{ description: 'Work', unitAmount: 5, quantity: 0.0000001 }] }],
  [{ lines: [{ ...work, quantity: 1_001 }] }],
  [{ lines: [{ description: 'Work', amount: -5 }] }],
  [{ lines: [work], reason: '' }],
  [{ lines: [work], dueAt: 'tomorrow' }],
])('refuses an invoice with %j', async (change) => {
  const wanted = { customerRef, currency: 'USD', reason, ...change }
  expect((await call('POST', '/v1/ui/invoices', wanted)).status).toBe(400)
})

test('adds, lists and removes items of the next invoice', async () => {
  const wanted = { ...work, currency: 'USD', reason }
  const added = await call<InvoiceItemBody>('POST', path('invoice-items'), wanted)
  expect(added).toMatchObject({ status: 201, body: { amount: 2_999, quantity: 1.5 } })
  const listed = await call('GET', path('invoice-items'))
  expect(listed.body).toEqual({ items: [added.body] })
  const item = path(`invoice-items/${added.body.reference}`)
  expect((await call('DELETE', item)).body).toEqual({ items: [] })
  expect(await call('DELETE', item)).toMatchObject({
    status: 404,
    body: { code: 'invoice_item_not_found' },
  })
  const unknown = await call('POST', path('invoice-items'), { ...wanted, currency: 'XYZ' })
  expect(unknown.body.code).toBe('invoice_currency_has_no_rate')
})

/** Gives the customer a credit. */
async function credit(amount: number): Promise<void> {
  const lines = sampleLines('USD').slice(0, 4)
  const reference = await issueSample(stack, tenant.sandboxKey, customerRef, lines)
  await call('POST', `/v1/ui/invoices/${reference}/outside-payments`, { reason })
  await call('POST', `/v1/ui/invoices/${reference}/credit-notes`, { reason, amount })
}

test('shows the balance with its entries, and pays it out once for a key', async () => {
  await credit(1_000)
  const shown = await call<CustomerBalanceBody>('GET', path('invoice-balance'))
  expect(shown.body).toMatchObject({
    balances: [{ currency: 'USD', amount: 1_000, formattedAmount: '$10.00' }],
    entries: [{ kind: 'credit_note', currency: 'USD', amount: 1_000 }],
    total: 1,
  })
  const wanted = { reason, currency: 'USD', to: 'other', amount: 400 }
  for (let round = 0; round < 2; round += 1) {
    const paid = await call<BalancePayoutBody>(
      'POST',
      path('invoice-balance/payouts'),
      wanted,
      customerRef,
    )
    expect(paid).toMatchObject({ status: 201, body: { amount: 400, to: 'other', refunds: [] } })
  }
  const listed = await call('GET', path('invoice-balance/payouts'))
  expect(listed.body).toMatchObject({ payouts: [{ amount: 400, to: 'other' }], total: 1 })
  const card = { ...wanted, to: 'card' }
  expect((await call('POST', path('invoice-balance/payouts'), card)).body).toMatchObject({
    code: 'balance_amount_too_large',
    message: 'The amount exceeds what can be paid out: 0',
  })
  const left = await call<CustomerBalanceBody>('GET', path('invoice-balance'))
  expect(left.body).toMatchObject({
    balances: [{ amount: 600 }],
    entries: [{ kind: 'balance_paid_out', amount: -400 }, { amount: 1_000 }],
  })
})

test('the balance of a deleted customer is shown and paid out', async () => {
  await credit(1_000)
  expect((await call('DELETE', `/v1/ui/customers/${customerRef}`)).status).toBeLessThan(300)
  expect((await call('GET', path('invoice-balance'))).body).toMatchObject({
    balances: [{ currency: 'USD', amount: 1_000 }],
  })
  const wanted = { reason, currency: 'USD', to: 'other' }
  expect(await call('POST', path('invoice-balance/payouts'), wanted)).toMatchObject({
    status: 201,
    body: { amount: 1_000 },
  })
})

test('is closed to users who may only look, and to other providers', async () => {
  await credit(1_000)
  const other = await stack.createTenant()
  const payout = { reason, currency: 'USD', to: 'other' }
  const item = { ...work, currency: 'USD', reason }
  const invoice = { customerRef, currency: 'USD', lines: [work], reason }
  const requests = [
    ['/v1/ui/invoices', invoice],
    [path('invoice-items'), item],
    [path('invoice-balance/payouts'), payout],
  ] as const
  for (const [at, body] of requests) {
    expect((await call('POST', at, body, undefined, viewer)).status).toBe(403)
    expect((await call('POST', at, body, undefined, other.sandboxKey)).status).toBe(404)
    expect((await call('POST', at, body, undefined, tenant.liveKey)).status).toBe(404)
  }
  expect(
    (await call('GET', path('invoice-balance'), undefined, undefined, other.sandboxKey)).status,
  ).toBe(404)
  expect((await call('GET', path('invoice-balance'), undefined, undefined, viewer)).status).toBe(
    200,
  )
})
