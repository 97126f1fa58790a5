import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CreditNote } from '@tollgate/domain/invoices/credit-notes'
import type { InvoiceParties, InvoiceWithLines } from '@tollgate/domain/invoices/invoice'
import { invoiceLine } from '@tollgate/domain/pricing/invoice-line'
import type { TaxCharge } from '@tollgate/domain/pricing/line-inputs'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import type { InvoiceBody, InvoiceSummaryBody } from '@tollgate/schemas/http/invoices'
import { invoiceToHttp } from '../src/http/translate/invoice.ts'
import { creditNoteTexts } from '../src/invoices/credit-note-texts.ts'
import { invoiceTexts } from '../src/invoices/invoice-texts.ts'
import { drawableLogo } from '../src/invoices/logo.ts'
import type { Brand } from '../src/invoices/render-document.ts'
import { renderCreditNote, renderInvoice } from '../src/invoices/render-invoice.ts'
import { createUser, quickPasswords, signIn } from './console-user.ts'
import {
  issueSample,
  sampleInvoice,
  sampleLines,
  sampleNote,
  samplePayment,
} from './printed-invoice.ts'
import { readPdf } from './read-pdf.ts'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

/* Invoices as the console shows them, and as they are printed. */

let stack: TestStack
let tenant: Tenant
let token: string
let customers: CustomerBody[]
let references: string[]

beforeAll(async () => {
  stack = await startTestStack({ settings: quickPasswords })
  tenant = await stack.createTenant()
  await createUser(stack, tenant, 'member@example.com', 'member')
  token = (await signIn(stack, 'member@example.com')).accessToken
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

  test('are found by state and by customer, under any of its references', async () => {
    expect((await list('?status=open')).total).toBe(2)
    expect((await list('?status=paid')).invoices[0]).toMatchObject({ total: 0, due: 0 })
    expect((await list(`?customerRef=${customers[0]!.reference}`)).total).toBe(2)
    expect((await list('?customerRef=user_2')).total).toBe(1)
    expect((await list('?customerRef=nobody')).total).toBe(0)
    expect((await list('?purchaseRef=pur_nobody')).total).toBe(0)
    const { status } = await stack.call(token, 'GET', '/v1/ui/invoices?status=lost')
    expect(status).toBe(400)
  })

  test('say what each line was computed from', async () => {
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
    // 1.25 cents.
    expect(BigInt(late!.exact.numerator) * 4n).toBe(BigInt(late!.exact.denominator) * 5n)
    expect(late!.inputs).toMatchObject({ usedUnits: '3500', lateUnits: '12.5' })
    expect(late).toMatchObject({ periodStart: '2026-06-01T00:00:00.000Z' })
  })

  test.each(['', '/pdf'])('of nobody are not found%s', async (suffix) => {
    const path = `/v1/ui/invoices/inv_NOBODYS00000${suffix}`
    const { status, body } = await stack.call(token, 'GET', path)
    expect(status).toBe(404)
    expect(body.message).toContain('inv_NOBODYS00000')
  })

  test('name the seller’s own address where it gave none for support', async () => {
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

  test('can be printed', async () => {
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

  test('keep what was true when they were issued, and their credit notes have files', async () => {
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

describe('on paper', () => {
  test('stands what is owed, and what was settled otherwise', () => {
    const invoice = sampleInvoice({
      creditedMinor: 500n,
      carriedMinor: 81n,
      paidMinor: 5_600n,
      status: 'paid',
      paidAt: new Date('2026-07-03T00:00:00Z'),
    })
    const texts = invoiceTexts(
      { invoice, creditNotes: [sampleNote], payments: [samplePayment] },
      'live',
    )
    expect(texts.title).toBe('Invoice and receipt')
    expect(texts.facts).toEqual([
      ['Number', 'INV-000042'],
      ['Date', '1 Jul 2026'],
      ['Due date', '1 Jul 2026'],
      ['Status', 'Paid'],
      ['Paid on', '3 Jul 2026'],
      ['Product', 'Weather API'],
      ['Reference', 'inv_ABCDEFGH1234'],
    ])
    expect(texts.payments).toEqual([
      { date: '3 Jul 2026', method: 'Visa ending in 4242 (08/2034)', amount: '$56.00' },
    ])
    expect(texts.seller).toEqual([
      'Åkerlund & Żółć AB',
      'Kungsgatan 12',
      '111 43 Stockholm',
      'Sweden',
      'Company number 556677-8899',
      'Tax ID SE556677889901',
      'billing@example.com',
    ])
    expect(texts.lines[2]).toEqual({
      description: 'Pro, usage',
      details: ['1 Jun 2026 – 30 Jun 2026', '3,500 requests, 1,000 included'],
      quantities: ['500', '1,500', '500'],
      unitPrices: ['$0.005', '$0.003', '$0.001'],
      amount: '$7.50',
    })
    expect(texts.lines[3]).toMatchObject({ quantities: ['12.5'], unitPrices: ['$0.001'] })
    expect(texts.lines[1]).toMatchObject({ quantities: ['1'], unitPrices: ['$5.00'] })
    expect(texts.sums).toEqual([
      ['Total (USD)', '$61.81'],
      ['To the next invoice', '-$0.81'],
      ['Credit notes', '-$5.00'],
      ['Paid', '-$56.00'],
      ['Amount due', '$0.00'],
    ])
    expect(texts.notes).toEqual([
      'Credit note CRN-000001 of 2 Jul 2026, $5.00: The set-up fee was waived',
    ])
  })

  test.each([
    [
      'open',
      'Disputed',
      'The payment of $56.00 with Visa ending in 4242 is disputed. The bank has not decided yet.',
    ],
    [
      'lost',
      'Disputed, taken back by the bank',
      'The payment of $56.00 with Visa ending in 4242 was disputed, and the bank has returned it to the cardholder.',
    ],
    ['won', 'Paid', undefined],
  ] as const)('a dispute that is %s reads: %s', (status, word, note) => {
    const invoice = sampleInvoice({ carriedMinor: 581n, paidMinor: 5_600n, status: 'paid' })
    const payment = { ...samplePayment, dispute: { status, amountMinor: 5_600n } }
    const texts = invoiceTexts({ invoice, creditNotes: [], payments: [payment] }, 'live')
    expect(texts.facts).toContainEqual(['Status', word])
    expect(texts.notes).toEqual(note === undefined ? [] : [note])
    const taken = texts.sums.filter(([name]) => name === 'Taken back by the bank')
    expect(taken).toEqual(status === 'lost' ? [['Taken back by the bank', '$56.00']] : [])
  })

  test('stand credits that were bought, and a credit note that is void', () => {
    const inputs = { kind: 'credits', amountMinor: '1250', credits: '125000' } as const
    const invoice = sampleInvoice({ lines: [invoiceLine(inputs, 'Credits', null)] })
    const voidedAt = new Date('2026-07-09T08:00:00Z')
    const note = { ...sampleNote, totalMinor: 250n, reason: 'Refund', voidedAt, lines: [] }
    const printed = { invoice, creditNotes: [note], payments: [] }
    const { lines, notes } = invoiceTexts(printed, 'live')
    expect(lines).toEqual([
      {
        description: 'Credits',
        details: ['125,000 credits'],
        quantities: ['1'],
        unitPrices: ['$12.50'],
        amount: '$12.50',
      },
    ])
    expect(notes).toEqual([
      'Credit note CRN-000001 of 2 Jul 2026, $2.50: Refund, void since 9 Jul 2026',
    ])
  })

  test.each(['draft', 'void'] as const)('nothing is due of one that is %s', (status) => {
    const invoice = sampleInvoice({ status, number: null, parties: null, issuedAt: null })
    const texts = invoiceTexts({ invoice, creditNotes: [], payments: [] }, 'sandbox')
    expect(texts.title).toBe('Invoice (test)')
    expect(texts.sums.at(-1)).toEqual(['Amount due', '$0.00'])
    expect(texts.buyer).toEqual([invoice.customerRef])
  })

  const taxed = (tax: Partial<TaxCharge>): InvoiceWithLines => {
    const [price, , , , carried] = sampleLines('USD')
    const inputs: TaxCharge = {
      kind: 'tax',
      treatment: 'standard',
      country: 'DE',
      ratePerMille: '190',
      baseMinor: '4900',
      isInclusive: false,
      ...tax,
    }
    return sampleInvoice({ lines: [price!, invoiceLine(inputs, 'VAT 19 % (DE)', null), carried!] })
  }

  test.each([
    [false, '$49.00', ['$49.30', 'VAT 19 % (DE)', '$9.31', '$58.61']],
    [true, '$41.18', ['$49.30', 'VAT 19 % (DE), included', '$7.82']],
  ])('stands the tax among the sums, inclusive %s', (isInclusive, base, shown) => {
    const { lines, sums, taxes, notes } = invoiceTexts(
      { invoice: taxed({ isInclusive }), creditNotes: [], payments: [] },
      'live',
    )
    expect(lines.map(({ description }) => description)).toEqual(['Pro', 'From earlier invoices'])
    const texts = sums.slice(0, isInclusive ? 2 : 3).flat()
    expect(texts.filter((text) => !['Subtotal', 'Total (USD)'].includes(text))).toEqual(shown)
    const amount = shown.find((text) => /^\$[79]/.test(text))
    expect(taxes).toEqual([{ tax: 'VAT 19 % (DE)', rate: '19 %', base, amount }])
    expect(notes).toEqual([])
  })

  test.each([
    [false, { base: 4_900, amount: 931, inclusive: false }],
    [true, { base: 4_118, amount: 782, inclusive: true }],
  ])('and in the answer of the API, inclusive %s', (isInclusive, amounts) => {
    const lines = [
      { line: 0, amountMinor: 420n },
      { line: 1, amountMinor: 80n },
    ]
    const note = { ...sampleNote, lines }
    const { taxes, creditNotes } = invoiceToHttp(
      { invoice: taxed({ isInclusive }), creditNotes: [note], payments: [] },
      'live',
    )
    expect(taxes).toEqual([{ treatment: 'standard', rate: 0.19, country: 'DE', ...amounts }])
    expect(creditNotes).toMatchObject([{ total: 500, tax: 80 }])
  })

  test('stands who accounts for the tax instead, and who that is', () => {
    const { seller } = sampleInvoice().parties!
    const buyer = {
      ...{ reference: 'cus_1', name: 'Ada GmbH', email: 'ada@example.com' },
      ...{ country: 'DE', taxId: 'DE123456789', address: 'Torstraße 1\n10119 Berlin' },
    }
    const untaxed = taxed({ treatment: 'reverse_charge', ratePerMille: '0' })
    const invoice = { ...untaxed, parties: { seller, buyer } }
    const texts = invoiceTexts({ invoice, creditNotes: [], payments: [] }, 'live')
    expect(texts.notes).toEqual([expect.stringContaining('Reverse charge: VAT is to be accounted')])
    expect(texts.buyer).toEqual([
      'Ada GmbH',
      'Torstraße 1',
      '10119 Berlin',
      'Germany',
      'Tax ID DE123456789',
      'ada@example.com',
      'cus_1',
    ])
  })

  const plain: Brand = { accentColor: null, logo: null }
  const print = async (invoice: InvoiceWithLines, brand = plain) => {
    const printed = { invoice, creditNotes: [], payments: [] }
    return (await renderInvoice(printed, brand, 'live')).pdf
  }

  test('the same invoice is the same bytes', async () => {
    const [one, other] = await Promise.all([print(sampleInvoice()), print(sampleInvoice())])
    expect(one.equals(other)).toBe(true)
  })

  test('screen readers find a title, a language, headings and tables', async () => {
    const { title, language, pages, tags } = await readPdf(await print(sampleInvoice()))
    expect({ title, language }).toEqual({ title: 'Invoice INV-000042', language: 'en' })
    expect(tags.filter((tag) => ['H1', 'Table'].includes(tag))).toEqual(['H1', 'Table', 'Table'])
    expect(tags.filter((tag) => tag === 'TH')).toHaveLength(4 + 2)
    expect(pages).toEqual([expect.stringContaining('Page 1 of 1')])
  })

  test('a table repeats its head on each page, and each row stands once', async () => {
    const [line] = sampleLines('USD')
    const lines = Array.from({ length: 60 }, (_, at) => ({ ...line!, description: `Seat ${at}.` }))
    const { pages } = await readPdf(await print(sampleInvoice({ lines })))
    expect(pages).toHaveLength(3)
    for (const [at, page] of pages.entries()) {
      expect(page).toContain('Description\nQuantity\nUnit price\nAmount')
      expect(page).toContain(`Page ${at + 1} of 3`)
    }
    const text = pages.join('\n')
    expect(text.match(/Seat \d+\./g)).toEqual(lines.map(({ description }) => description))
    expect(text).toContain('Amount due\n$2,940.00')
  })

  test('many lines, long names and letters from anywhere have their room', async () => {
    const [line] = sampleLines('JPY')
    const lines = Array.from({ length: 30 }, (_, at) => ({
      ...line!,
      description: `${at} ${'Ж'.repeat(at * 60)} \u{1f600} 株式会社 서울 \u0007`,
    }))
    const { pages } = await readPdf(await print(sampleInvoice({ lines, currency: 'JPY' })))
    const text = pages.join('\n')
    expect(pages.length).toBeGreaterThan(5)
    expect(text.match(/Ж/g)).toHaveLength((60 * 29 * 30) / 2)
    expect(text.match(/株式会社/g)).toHaveLength(30)
    // No font has them: a box stands for each, which still says what it is.
    expect(text.match(/□□/g)).toHaveLength(30)
    expect(text).not.toContain('\u0007')
  })

  test('a credit note is a document of its own', async () => {
    const [price, fee] = sampleLines('USD')
    const tax = taxed({ baseMinor: '5400' }).lines[1]!
    const invoice = sampleInvoice({ lines: [price!, fee!, tax] })
    const note: CreditNote = {
      ...sampleNote,
      totalMinor: 595n,
      lines: [
        { line: 1, amountMinor: 500n },
        { line: 2, amountMinor: 95n },
      ],
    }
    const texts = creditNoteTexts({ note, invoice }, 'live')
    expect(texts.facts.slice(0, 4)).toEqual([
      ['Number', 'CRN-000001'],
      ['Date', '2 Jul 2026'],
      ['For invoice', 'INV-000042'],
      ['Invoice date', '1 Jul 2026'],
    ])
    expect(texts.lines.map(({ description, amount }) => [description, amount])).toEqual([
      ['Pro, set-up fee', '$5.00'],
    ])
    expect(texts.sums).toEqual([
      ['Subtotal', '$5.00'],
      ['VAT 19 % (DE)', '$0.95'],
      ['Total credited (USD)', '$5.95'],
    ])
    expect(texts.taxes).toEqual([
      { tax: 'VAT 19 % (DE)', rate: '19 %', base: '$5.00', amount: '$0.95' },
    ])
    expect(texts.notes).toEqual([
      'Reason: The set-up fee was waived',
      'The credit reduces what is due on invoice INV-000042.',
    ])
    const { fileName, pdf } = await renderCreditNote({ note, invoice }, plain, 'live')
    expect(fileName).toBe('CRN-000001.pdf')
    expect((await readPdf(pdf)).title).toBe('Credit note CRN-000001')
  })

  test('a void credit note says that it no longer counts', () => {
    const note = { ...sampleNote, voidedAt: new Date('2026-07-09T08:00:00Z') }
    const texts = creditNoteTexts({ note, invoice: sampleInvoice() }, 'sandbox')
    expect(texts.title).toBe('Credit note (test)')
    expect(texts.facts).toContainEqual(['Void since', '9 Jul 2026'])
    expect(texts.notes.at(-1)).toContain('no longer counts')
  })

  test('the logo is drawn if it is whole, and the name of the seller otherwise', async () => {
    const png = Buffer.from(dotPng, 'base64')
    const whole = drawableLogo({ contentType: 'image/png', bytes: png })
    expect((await readPdf(await print(sampleInvoice(), { ...plain, logo: whole }))).tags).toContain(
      'Figure',
    )
    const damaged = Buffer.from(png)
    damaged.fill(0, png.indexOf('IDAT') + 4, png.indexOf('IDAT') + 12)
    const wide = Buffer.from(png)
    wide.writeUInt32BE(1 << 20, 16)
    for (const bytes of [damaged, wide, png.subarray(0, 40)]) {
      expect(drawableLogo({ contentType: 'image/png', bytes })).toBeNull()
    }
    const notJpeg = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 4])
    const { tags, pages } = await readPdf(await print(sampleInvoice(), { ...plain, logo: notJpeg }))
    expect(tags).not.toContain('Figure')
    expect(pages[0]!.split('\n').slice(0, 2)).toEqual(['Invoice', 'Åkerlund & Żółć AB'])
  })
})

/** One pixel, with transparency. */
const dotPng =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
