import { describe, expect, test } from 'vitest'
import type { CreditNote } from '@tollgate/domain/invoices/credit-notes'
import type { InvoiceWithLines } from '@tollgate/domain/invoices/invoice'
import { invoiceLine } from '@tollgate/domain/pricing/invoice-line'
import type { TaxCharge } from '@tollgate/domain/pricing/line-inputs'
import { invoiceToHttp } from '../src/http/translate/invoice.ts'
import { creditNoteTexts } from '../src/invoices/credit-note-texts.ts'
import { invoiceTexts } from '../src/invoices/invoice-texts.ts'
import { cardText } from '../src/invoices/document-formats.ts'
import { drawableLogo } from '../src/invoices/logo.ts'
import type { Brand } from '../src/invoices/render-document.ts'
import { renderCreditNote, renderInvoice } from '../src/invoices/render-invoice.ts'
import { sampleInvoice, sampleLines, sampleNote, samplePayment } from './printed-invoice.ts'
import { readPdf } from './read-pdf.ts'

/* What invoices and credit notes print, and the layout of their pages. */

describe('a printed invoice', () => {
  test('shows what is due and what was settled in other ways', () => {
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
  ] as const)('shows a dispute that is %s as: %s', (status, word, note) => {
    const invoice = sampleInvoice({ carriedMinor: 581n, paidMinor: 5_600n, status: 'paid' })
    const payment = { ...samplePayment, dispute: { status, amountMinor: 5_600n } }
    const texts = invoiceTexts({ invoice, creditNotes: [], payments: [payment] }, 'live')
    expect(texts.facts).toContainEqual(['Status', word])
    expect(texts.notes).toEqual(note === undefined ? [] : [note])
    const taken = texts.sums.filter(([name]) => name === 'Taken back by the bank')
    expect(taken).toEqual(status === 'lost' ? [['Taken back by the bank', '$56.00']] : [])
  })

  test.each([
    ['visa', 'Visa'],
    ['amex', 'American Express'],
    ['jcb', 'JCB'],
    ['unionpay', 'UnionPay'],
  ])('shows a card of %s as %s, as on the pages', (brand, name) => {
    const paidWith = { ...samplePayment.paidWith!, brand }
    expect(cardText(paidWith)).toBe(`${name} ending in 4242`)
  })

  test('shows bought credits, and a void credit note', () => {
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

  test.each(['draft', 'void'] as const)('has no amount due if it is %s', (status) => {
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
  ])('shows the tax among the sums, inclusive %s', (isInclusive, base, shown) => {
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
  ])('has the same tax in the API response, inclusive %s', (isInclusive, amounts) => {
    const lines = [
      { line: 0, amountMinor: 420n },
      { line: 1, amountMinor: 80n },
    ]
    const note = { ...sampleNote, lines }
    const { taxes, creditNotes } = invoiceToHttp(
      { invoice: taxed({ isInclusive }), creditNotes: [note], payments: [] },
      { decisions: [], refunds: [] },
      'live',
    )
    expect(taxes).toEqual([{ treatment: 'standard', rate: 0.19, country: 'DE', ...amounts }])
    expect(creditNotes).toMatchObject([{ total: 500, tax: 80 }])
  })

  test('states who accounts for the tax under reverse charge', () => {
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

  test('renders the same invoice to the same bytes', async () => {
    const [one, other] = await Promise.all([print(sampleInvoice()), print(sampleInvoice())])
    expect(one.equals(other)).toBe(true)
  })

  test('has a title, a language, headings and tables for screen readers', async () => {
    const { title, language, pages, tags } = await readPdf(await print(sampleInvoice()))
    expect({ title, language }).toEqual({ title: 'Invoice INV-000042', language: 'en' })
    expect(tags.filter((tag) => ['H1', 'Table'].includes(tag))).toEqual(['H1', 'Table', 'Table'])
    expect(tags.filter((tag) => tag === 'TH')).toHaveLength(4 + 2)
    expect(pages).toEqual([expect.stringContaining('Page 1 of 1')])
  })

  test('repeats the head of a table on each page, and prints each row once', async () => {
    const [line] = sampleLines('USD')
    const lines = Array.from({ length: 60 }, (_, at) => ({ ...line!, description: `Seat ${at}.` }))
    const { pages } = await readPdf(await print(sampleInvoice({ lines })))
    expect(pages).toHaveLength(4)
    for (const [at, page] of pages.entries()) {
      expect(page).toContain('Description\nQuantity\nUnit price\nAmount')
      expect(page).toContain(`Page ${at + 1} of 4`)
    }
    const text = pages.join('\n')
    expect(text.match(/Seat \d+\./g)).toEqual(lines.map(({ description }) => description))
    expect(text).toContain('Amount due\n$2,940.00')
  })

  test('prints many lines, long names and letters of any alphabet', async () => {
    const [line] = sampleLines('JPY')
    const lines = Array.from({ length: 30 }, (_, at) => ({
      ...line!,
      description: `${at} ${'Ж'.repeat(at * 60)} \u{1f600} 株式会社 서울 \u0007`,
    }))
    const { pages } = await readPdf(await print(sampleInvoice({ lines, currency: 'JPY' })))
    const text = pages.join('\n')
    expect(pages.length).toBeGreaterThan(5)
    expect(text.match(/Ж/g)).toHaveLength((60 * 29 * 30) / 2)
    // The name may break at the end of a line, as Japanese text may.
    expect(text.replaceAll('\n', '').match(/株式会社/g)).toHaveLength(30)
    // No font has these characters. Each is printed as a box that still contains the character for readers.
    expect(text.match(/□/g)).toHaveLength(60)
    expect(text).not.toContain('\u0007')
  })

  test('prints a credit note as a separate document', async () => {
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

  test('says on a void credit note that it no longer counts', () => {
    const note = { ...sampleNote, voidedAt: new Date('2026-07-09T08:00:00Z') }
    const texts = creditNoteTexts({ note, invoice: sampleInvoice() }, 'sandbox')
    expect(texts.title).toBe('Credit note (test)')
    expect(texts.facts).toContainEqual(['Void since', '9 Jul 2026'])
    expect(texts.notes.at(-1)).toContain('no longer counts')
  })

  test("draws an intact logo, and otherwise prints the seller's name", async () => {
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

/** A PNG of 1 pixel with transparency. */
const dotPng =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
