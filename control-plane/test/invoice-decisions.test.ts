import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import type { InvoiceBody, InvoiceCharged } from '@tollgate/schemas/http/invoices'
import { createUser, quickPasswords, signIn, signInAs } from './console-user.ts'
import { creditSample, issueSample, sampleLines } from './printed-invoice.ts'
import { readPdf } from './read-pdf.ts'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

/* What people decide about invoices, through the API. */

let stack: TestStack
let tenant: Tenant
let token: string
let customerRef: string

beforeAll(async () => {
  stack = await startTestStack({ settings: quickPasswords })
  tenant = await stack.createTenant()
  await createUser(stack, tenant, 'viewer@example.com', 'member')
  token = await signInAs(stack, tenant, 'admin')
  const who = { email: 'ada@example.com', externalRef: 'user_1' }
  customerRef = (
    await stack.call<CustomerBody>(tenant.sandboxKey, 'POST', '/v1/sdk/customers', who)
  ).body.reference
})
afterAll(() => stack.stop())

const issue = (lines = sampleLines('USD').slice(0, 4)) =>
  issueSample(stack, tenant.sandboxKey, customerRef, lines)

function decide(
  reference: string,
  action: string,
  body: object = {},
  headers: Record<string, string> = {},
  caller = token,
) {
  return stack.callRaw<InvoiceBody>(caller, 'POST', `/v1/ui/invoices/${reference}/${action}`, {
    body: JSON.stringify({ reason: 'decided', ...body }),
    headers,
  })
}

describe('a credit note', () => {
  test('reduces what is due, and states its reason on paper', async () => {
    const reference = await issue()
    const { status, body } = await decide(reference, 'credit-notes', {
      lines: [{ line: 1, amount: 200 }],
      reason: 'Half of the set-up',
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({ total: 6_151, credited: 200, due: 5_951, status: 'open' })
    const [note] = body.creditNotes
    expect(note).toMatchObject({ total: 200, settles: 'invoice', reason: 'Half of the set-up' })
    expect(body.decisions).toMatchObject([
      { kind: 'credited', amount: 200, creditNoteRef: note!.reference },
    ])
    expect(body.decisions[0]!.decidedBy).toMatch(/^user:usr_/)
    const path = `/v1/ui/invoices/${reference}/credit-notes/${note!.reference}/pdf`
    const answer = await stack.fetch(path, { headers: { authorization: `Bearer ${token}` } })
    const { pages } = await readPdf(Buffer.from(await answer.arrayBuffer()))
    expect(pages.join('\n')).toContain('Half of the set-up')
  })

  test('credits the next invoice if the invoice is paid', async () => {
    const reference = await issue()
    await decide(reference, 'outside-payments')
    const { body } = await decide(reference, 'credit-notes', { amount: 1_000 })
    expect(body).toMatchObject({ status: 'paid', credited: 0 })
    expect(body.creditNotes).toMatchObject([{ total: 1_000, settles: 'balance' }])
    const next = `/v1/ui/invoices/${await issue()}`
    expect((await stack.call<InvoiceBody>(token, 'GET', next)).body.due).toBe(5_151)
  })

  test('credits at most what is left, beside earlier notes', async () => {
    const reference = await issue()
    await creditSample(stack, tenant.sandboxKey, reference)
    expect((await decide(reference, 'credit-notes', { amount: 5_652 })).body).toMatchObject({
      code: 'invoice_amount_too_large',
      message: 'The amount exceeds what is left: 5651',
    })
    const line = { lines: [{ line: 1, amount: 1 }] }
    expect(await decide(reference, 'credit-notes', line)).toMatchObject({
      status: 409,
      body: { code: 'invoice_amount_too_large' },
    })
    expect((await decide(reference, 'credit-notes')).body).toMatchObject({ status: 'paid', due: 0 })
  })

  test.each([
    [{ reason: '' }, 'reason'],
    [{ amount: 0 }, 'amount'],
    [{ amount: 1.5 }, 'amount'],
    [{ lines: [] }, 'lines'],
    [{ lines: [{ line: -1, amount: 5 }] }, 'lines'],
    [{ amount: 5, lines: [{ line: 0, amount: 5 }] }, 'either an amount or lines'],
  ])('is refused for %j', async (body, text) => {
    const { status, body: refused } = await decide(await issue(), 'credit-notes', body)
    expect(status).toBe(400)
    expect(JSON.stringify(refused)).toContain(text)
  })
})

describe('a refund to the balance', () => {
  const all = { to: 'balance' }

  test('returns what was paid to the next invoice, with a credit note that states the reason', async () => {
    const reference = await issue()
    await decide(reference, 'outside-payments')
    const { status, body } = await decide(reference, 'refunds', { ...all, amount: 1_000 })
    expect(status).toBe(200)
    expect(body).toMatchObject({ status: 'partly_refunded', refunded: 1_000 })
    const [refund] = body.refunds
    expect(refund).toMatchObject({ to: 'balance', amount: 1_000, status: 'succeeded' })
    expect(body.creditNotes).toMatchObject([
      { total: 1_000, settles: 'balance', reason: 'decided' },
    ])
    expect(body.decisions.at(-1)).toMatchObject({
      kind: 'refunded',
      amount: 1_000,
      refundRef: refund!.reference,
      creditNoteRef: body.creditNotes[0]!.reference,
    })
    expect((await decide(reference, 'refunds', all)).body).toMatchObject({ status: 'refunded' })
    expect((await decide(reference, 'refunds', all)).body).toMatchObject({
      code: 'invoice_not_changeable',
    })
    const next = await stack.call<InvoiceBody>(token, 'GET', `/v1/ui/invoices/${await issue()}`)
    expect(next.body).toMatchObject({ status: 'paid', due: 0 })
  })

  test('is made once for an idempotency key', async () => {
    const reference = await issue()
    await decide(reference, 'outside-payments')
    const key = { 'idempotency-key': `refund-${reference}` }
    for (let round = 0; round < 3; round += 1) {
      const { body } = await decide(reference, 'refunds', { ...all, amount: 500 }, key)
      expect(body).toMatchObject({ refunded: 500, refunds: [{ amount: 500 }] })
    }
    expect((await decide(reference, 'refunds', { ...all, amount: 501 }, key)).body).toMatchObject({
      code: 'idempotency_key_reused',
    })
  })

  test.each([{}, { to: 'bank' }, { to: 'balance', amount: 0 }])(
    'is refused for %j',
    async (body) => {
      expect((await decide(await issue(), 'refunds', body)).status).toBe(400)
    },
  )
})

describe('an invoice', () => {
  test('is void, owes nothing, and cannot be decided about again', async () => {
    const reference = await issue()
    const { body } = await decide(reference, 'void', { reason: 'A test' })
    expect(body).toMatchObject({ status: 'void', due: 0, decisions: [{ kind: 'voided' }] })
    for (const action of ['void', 'write-off', 'credit-notes', 'outside-payments']) {
      expect(await decide(reference, action)).toMatchObject({
        status: 409,
        body: { code: 'invoice_not_changeable' },
      })
    }
  })

  test('is paid by a transfer after it was written off', async () => {
    const reference = await issue()
    expect((await decide(reference, 'write-off')).body).toMatchObject({ status: 'uncollectible' })
    const { body } = await decide(reference, 'outside-payments', { reason: 'Transfer 4711' })
    expect(body).toMatchObject({ status: 'paid', paid: 6_151, due: 0 })
    expect(body.payments).toMatchObject([{ amount: 6_151 }])
    const answer = await stack.fetch(`/v1/ui/invoices/${reference}/pdf`, {
      headers: { authorization: `Bearer ${token}` },
    })
    const { pages } = await readPdf(Buffer.from(await answer.arrayBuffer()))
    expect(pages.join('\n')).toMatch(/Paid[^]*\$61\.51/)
  })

  test('is changed once for an idempotency key', async () => {
    const reference = await issue()
    const key = { 'idempotency-key': `pay-${reference}` }
    const half = { amount: 3_000 }
    for (let round = 0; round < 3; round += 1) {
      const { status, body } = await decide(reference, 'outside-payments', half, key)
      expect({ status, paid: body.paid }).toEqual({ status: 200, paid: 3_000 })
    }
    expect(await decide(reference, 'outside-payments', { amount: 1 }, key)).toMatchObject({
      status: 409,
      body: { code: 'idempotency_key_reused' },
    })
  })

  test('is charged only if something is due and a card is saved', async () => {
    const reference = await issue()
    const path = `/v1/ui/invoices/${reference}/charge`
    const charge = () => stack.call<InvoiceCharged>(token, 'POST', path)
    expect((await charge()).body).toMatchObject({ result: 'no_card', invoice: { status: 'open' } })
    await decide(reference, 'void')
    expect((await charge()).body).toMatchObject({ result: 'nothing_due' })
    const unknown = await stack.call(token, 'POST', '/v1/ui/invoices/inv_NOBODYS00000/charge')
    expect(unknown).toMatchObject({ status: 404, body: { code: 'invoice_not_found' } })
  })

  test('is not changed by a user who may only look, nor by another provider', async () => {
    const reference = await issue()
    const viewer = (await signIn(stack, 'viewer@example.com')).accessToken
    const other = await stack.createTenant()
    const actions = ['void', 'write-off', 'credit-notes', 'outside-payments', 'charge', 'refunds']
    for (const action of actions) {
      const body = action === 'refunds' ? { to: 'card' } : {}
      expect((await decide(reference, action, body, {}, viewer)).status).toBe(403)
      expect((await decide(reference, action, body, {}, other.sandboxKey)).status).toBe(404)
      expect((await decide(reference, action, body, {}, tenant.liveKey)).status).toBe(404)
    }
    const { body } = await stack.call<InvoiceBody>(token, 'GET', `/v1/ui/invoices/${reference}`)
    expect(body).toMatchObject({ status: 'open', decisions: [] })
  })
})
