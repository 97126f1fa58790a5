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
  total: 5_650,
  due: 5_650,
  paid: 0,
  carried: 0,
  credited: 0,
  refunded: 0,
  isHeld: false,
  formattedTotal: '$56.50',
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
  ],
  creditNotes: [],
  seller: {
    name: 'Acme Inc.',
    country: 'US',
    companyNumber: null,
    taxId: null,
    supportEmail: 'help@acme.example',
  },
  buyer: { reference: refs.customer, name: customer.name, email: customer.email },
}

const page = { total: 1, limit: 50, offset: 0 }

export const invoiceExamples = {
  listInvoices: {
    answer: examplesOf(invoicesPageSchema, { 'One page': { invoices: [summary], ...page } }),
  },
  getInvoice: { answer: examplesOf(invoiceSchema, { 'A month of a hybrid plan': invoice }) },
}
