import {
  invoiceSchema,
  invoicesPageSchema,
  type InvoiceBody,
  type InvoiceSummaryBody,
} from '../invoices.ts'
import { examplesOf } from './example.ts'
import { customer, instants, refs } from './story.ts'

const summary: InvoiceSummaryBody = {
  reference: refs.invoice,
  number: 'INV-000042',
  status: 'open',
  customerRef: refs.customer,
  purchaseRef: refs.purchase,
  currency: 'USD',
  total: 7_063,
  due: 7_063,
  paid: 0,
  carried: 0,
  credited: 0,
  refunded: 0,
  isHeld: false,
  formattedTotal: '$70.63',
  createdAt: instants.periodEnd,
  issuedAt: instants.periodEnd,
}

const period = { periodStart: instants.created, periodEnd: instants.periodEnd }

const invoice: InvoiceBody = {
  ...summary,
  lines: [
    {
      kind: 'recurring',
      description: 'Pro',
      ...period,
      amount: 4_900,
      exact: { numerator: '4900', denominator: '1' },
      inputs: { kind: 'recurring', amountMinor: '4900' },
    },
    {
      kind: 'usage',
      description: 'Pro, usage',
      ...period,
      amount: 750,
      exact: { numerator: '7500000000000000000', denominator: '10000000000000000' },
      inputs: {
        kind: 'usage',
        terms: {
          limit: '1000',
          freeUnits: '0',
          overage: { maxUnits: null },
          rate: { kind: 'flat', creditsPerUnit: '30' },
        },
        usedUnits: '3500',
        carriedOverUnits: '0',
        conversion: { currency: 'USD', unitsPerDollar: '1' },
        reading: {
          meterName: 'requests',
          watermark: instants.periodEnd,
          nextOffsets: { '0': '18422', '1': '17930' },
        },
      },
    },
    {
      kind: 'tax',
      description: 'VAT 25 % (SE)',
      amount: 1_413,
      exact: { numerator: '1412500', denominator: '1000' },
      inputs: {
        kind: 'tax',
        treatment: 'standard',
        country: 'SE',
        ratePerMille: '250',
        baseMinor: '5650',
        isInclusive: false,
      },
    },
  ],
  taxes: [
    {
      treatment: 'standard',
      rate: 0.25,
      country: 'SE',
      base: 5_650,
      amount: 1_413,
      inclusive: false,
    },
  ],
  payments: [],
  creditNotes: [],
  seller: {
    name: 'Acme AB',
    country: 'SE',
    companyNumber: null,
    taxId: 'SE556677889901',
    supportEmail: 'help@acme.example',
  },
  buyer: {
    reference: refs.customer,
    name: customer.name,
    email: customer.email,
    country: 'SE',
    taxId: null,
  },
}

const page = { total: 1, limit: 50, offset: 0 }

export const invoiceExamples = {
  listInvoices: {
    answer: examplesOf(invoicesPageSchema, { 'One page': { invoices: [summary], ...page } }),
  },
  getInvoice: { answer: examplesOf(invoiceSchema, { 'A month of a hybrid plan': invoice }) },
}
