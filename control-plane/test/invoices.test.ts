import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { InvoiceParties } from '@tollgate/domain/invoices/invoice'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import type { InvoiceBody, InvoiceSummaryBody } from '@tollgate/schemas/http/invoices'
import { createUser, quickPasswords, signIn, signInAs } from './console-user.ts'
import { issueSample, sampleInvoice, sampleLines } from './printed-invoice.ts'
import { readPdf } from './read-pdf.ts'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

/* Invoices in the console, and their files. */

let stack: TestStack
let tenant: Tenant
let token: string
let customers: CustomerBody[]
let references: string[]

beforeAll(async () => {
  stack = await startTestStack({ settings: quickPasswords })
  tenant = await stack.createTenant()
  token = await signInAs(stack, tenant, 'member')
  customers = []
  for (const externalRef of ['user_1', 'user_2']) {
    const who = { email: `${externalRef}@example.com`, externalRef }
    const path = '/v1/sdk/customers'
    customers.push((await stack.call<CustomerBody>(tenant.sandboxKey, 'POST', path, who)).body)
  }
  references = []

  for (const [at, lines] of [
    sampleLines('USD').slice(0, 4),
    [],
    sampleLines('USD').slice(1, 2),
  ].entries()) {
    stack.clock.set(`2026-07-01T08:00:0${at}Z`)
    const customer = customers[at % 2]!
    references.push(await issueSample(stack, tenant.sandboxKey, customer.reference, lines))
  }
})
afterAll(() => stack.stop())

type Page = { invoices: InvoiceSummaryBody[]; total: number; limit: number; offset: number }

async function list(query = ''): Promise<Page> {
  const { status, body } = await stack.call<Page>(token, 'GET', `/v1/ui/invoices${query}`)
  expect(status).toBe(200)
  return body
}

describe('invoices', () => {
  test('come newest first, a page at a time', async () => {
    const all = await list()
    expect(all.invoices.map(({ reference }) => reference)).toEqual(references.toReversed())
    expect(all.invoices.map(({ number }) => number)).toEqual([
      'TEST-INV-000003',
      'TEST-INV-000002',
      'TEST-INV-000001',
    ])
    expect(all).toMatchObject({ total: 3, limit: 50, offset: 0 })
    const page = await list('?limit=1&offset=1')
    expect(page.invoices.map(({ reference }) => reference)).toEqual([references[1]])
    expect(page).toMatchObject({ total: 3, limit: 1, offset: 1 })
  })

  test('are filtered by status and by any reference of their customer', async () => {
    expect((await list('?status=open')).total).toBe(2)
    expect((await list('?status=paid')).invoices[0]).toMatchObject({ total: 0, due: 0 })
    expect((await list(`?customerRef=${customers[0]!.reference}`)).total).toBe(2)
    expect((await list('?customerRef=user_2')).total).toBe(1)
    expect((await list('?customerRef=nobody')).total).toBe(0)
    expect((await list('?purchaseRef=pur_nobody')).total).toBe(0)
    const { status } = await stack.call(token, 'GET', '/v1/ui/invoices?status=lost')
    expect(status).toBe(400)
  })

  test('show the inputs of each line', async () => {
    const path = `/v1/ui/invoices/${references[0]}`
    const { body } = await stack.call<InvoiceBody>(token, 'GET', path)
    expect(body).toMatchObject({
      number: 'TEST-INV-000001',
      status: 'open',
      customerRef: customers[0]!.reference,
      currency: 'USD',
      total: 6_151,
      due: 6_151,
      paid: 0,
      isHeld: false,
      formattedTotal: '$61.51',
      taxes: [],
      creditNotes: [],
      seller: { name: 'Åkerlund & Żółć AB' },
    })
    expect(body.lines.map(({ kind, amount }) => [kind, amount])).toEqual([
      ['recurring', 4_900],
      ['setup_fee', 500],
      ['usage', 750],
      ['late_usage', 1],
    ])
    const [, , , late] = body.lines
    // The exact amount is 1.25 cents.
    expect(BigInt(late!.exact.numerator) * 4n).toBe(BigInt(late!.exact.denominator) * 5n)
    expect(late!.inputs).toMatchObject({ usedUnits: '3500', lateUnits: '12.5' })
    expect(late).toMatchObject({ periodStart: '2026-06-01T00:00:00.000Z' })
  })

  test.each(['', '/pdf'])('responds 404 for an unknown invoice%s', async (suffix) => {
    const path = `/v1/ui/invoices/inv_NOBODYS00000${suffix}`
    const { status, body } = await stack.call(token, 'GET', path)
    expect(status).toBe(404)
    expect(body.message).toContain('inv_NOBODYS00000')
  })

  test("show the seller's own email address if there is no support address", async () => {
    const other = await stack.createTenant()
    await createUser(stack, other, 'other@example.com', 'member')
    const { accessToken } = await signIn(stack, 'other@example.com')
    const who = { email: 'ada@example.com' }
    const buyer = await stack.call<CustomerBody>(other.sandboxKey, 'POST', '/v1/sdk/customers', who)
    const customerRef = buyer.body.reference
    const parties = sampleInvoice().parties!
    const silent = { ...parties, seller: { ...parties.seller, supportEmail: null } }
    const issue = (of: InvoiceParties) =>
      issueSample(stack, other.sandboxKey, customerRef, undefined, of)
    const contactOf = async (reference: string) => {
      const path = `/v1/ui/invoices/${reference}`
      const { body } = await stack.call<InvoiceBody>(accessToken, 'GET', path)
      return body.seller?.supportEmail
    }
    const [named, unnamed] = [await issue(parties), await issue(silent)]
    expect(await contactOf(unnamed)).toBeNull()
    await stack.database.control`
      update providers set email = 'owner@acme.example' where provider_id = ${other.providerId}`
    expect(await contactOf(unnamed)).toBe('owner@acme.example')
    expect(await contactOf(named)).toBe('billing@example.com')
  })

  test('are available as PDF', async () => {
    const answer = await stack.fetch(`/v1/ui/invoices/${references[0]}/pdf`, {
      headers: { authorization: `Bearer ${token}` },
    })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('application/pdf')
    expect(answer.headers.get('content-disposition')).toBe('inline; filename="TEST-INV-000001.pdf"')
    const bytes = Buffer.from(await answer.arrayBuffer())
    expect(bytes.subarray(0, 5).toString()).toBe('%PDF-')
    expect(bytes.subarray(-6).toString()).toContain('%%EOF')
  })

  test('keep the seller details of their issue date', async () => {
    const reference = references[2]!
    const path = `/v1/ui/invoices/${reference}`
    const textOf = async () => {
      const headers = { authorization: `Bearer ${token}` }
      const answer = await stack.fetch(`${path}/pdf`, { headers })
      return (await readPdf(Buffer.from(await answer.arrayBuffer()))).pages.join('\n')
    }
    const before = await textOf()
    expect(before).toContain('Kungsgatan 12')
    const change = { legalName: 'Other Inc.', address: 'Elsewhere 1', country: 'FI', taxId: 'X' }
    await stack.call(tenant.sandboxKey, 'PATCH', '/v1/ui/merchant', change)
    expect(await textOf()).toBe(before)
    const { body } = await stack.call<InvoiceBody>(token, 'GET', path)
    expect(body).toMatchObject({
      productName: 'Weather API',
      seller: { address: 'Kungsgatan 12\n111 43 Stockholm' },
    })
  })
})
