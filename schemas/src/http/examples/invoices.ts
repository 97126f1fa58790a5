import {
  changeDueDateSchema,
  creditInvoiceSchema,
  giveUpInvoiceSchema,
  invoiceChargedSchema,
  invoiceSchema,
  invoicesPageSchema,
  issueInvoiceSchema,
  payInvoiceOutsideSchema,
  refundInvoiceSchema,
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
  refunds: [],
  decisions: [],
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

const decided = {
  reference: 'ind_7QK2M4XN9BVC',
  amount: 7_063,
  decidedBy: 'user:usr_5NB8QX2KD7MW',
  createdAt: instants.periodEnd,
}

const paidOutside: InvoiceBody = {
  ...invoice,
  status: 'paid',
  due: 0,
  paid: 7_063,
  paidAt: instants.periodEnd,
  payments: [{ reference: decided.reference, amount: 7_063, paidAt: instants.periodEnd }],
  decisions: [{ ...decided, kind: 'paid_outside', reason: 'Bank transfer 4711' }],
}

const note = 'crn_4XK9QW2NB7MD'

const credited: InvoiceBody = {
  ...invoice,
  due: 6_125,
  credited: 938,
  creditNotes: [
    {
      reference: note,
      number: 'CRN-000007',
      total: 938,
      tax: 188,
      settles: 'invoice',
      reason: 'The service was down on the 4th',
      createdAt: instants.periodEnd,
    },
  ],
  decisions: [
    {
      ...decided,
      kind: 'credited',
      amount: 938,
      reason: 'The service was down on the 4th',
      creditNoteRef: note,
    },
  ],
}

const voided: InvoiceBody = {
  ...invoice,
  status: 'void',
  due: 0,
  closedAt: instants.periodEnd,
  decisions: [{ ...decided, kind: 'voided', reason: 'Issued for a test account' }],
}

const writtenOff: InvoiceBody = {
  ...invoice,
  status: 'uncollectible',
  closedAt: instants.periodEnd,
  decisions: [{ ...decided, kind: 'written_off', reason: 'The customer is insolvent' }],
}

const refund = 're_8MK3X9QW2NB7'

const refunded: InvoiceBody = {
  ...invoice,
  status: 'partly_refunded',
  due: 0,
  paid: 7_063,
  refunded: 1_000,
  paidAt: instants.periodEnd,
  payments: [
    {
      reference: 'txn_2QX7KB9MN4WD',
      amount: 7_063,
      paidAt: instants.periodEnd,
      card: { brand: 'visa', last4: '4242', expMonth: 4, expYear: 2030 },
    },
  ],
  creditNotes: [
    {
      reference: note,
      number: 'CRN-000008',
      total: 1_000,
      tax: 200,
      settles: 'refund',
      reason: 'Refund',
      createdAt: instants.periodEnd,
    },
  ],
  refunds: [
    {
      reference: refund,
      to: 'card',
      amount: 1_000,
      status: 'succeeded',
      processorRefund: 're_3Nq8mZ2eXk1Vb7Yw',
      createdAt: instants.periodEnd,
    },
  ],
  decisions: [
    { ...decided, kind: 'refunded', amount: 1_000, reason: 'Goodwill', refundRef: refund },
  ],
}

const line = { description: 'Migration of your data', unitAmount: 12_000, quantity: 2.5 }

const oneOff: InvoiceBody = {
  ...summary,
  ...{ reference: 'inv_6QN2XK8WM4BD', number: 'INV-000043', total: 30_000, due: 30_000 },
  ...{ formattedTotal: '$300.00', issuedAt: instants.periodEnd, dueAt: '2026-09-01T00:00:00.000Z' },
  lines: [
    {
      kind: 'item',
      description: line.description,
      amount: 30_000,
      exact: { numerator: '300000', denominator: '10' },
      inputs: { kind: 'item', unitMinor: '12000', quantity: '2.5' },
    },
  ],
  ...{ taxes: [], payments: [], creditNotes: [], refunds: [] },
  decisions: [{ ...decided, kind: 'issued', amount: 30_000, reason: 'Order 4711' }],
}

const dueDate = '2026-09-01T00:00:00.000Z'

const page = { total: 1, limit: 50, offset: 0 }

export const invoiceExamples = {
  listInvoices: {
    answer: examplesOf(invoicesPageSchema, { 'One page': { invoices: [summary], ...page } }),
  },
  creditInvoice: {
    body: examplesOf(creditInvoiceSchema, {
      'Part of a line': {
        reason: 'The service was down on the 4th',
        lines: [{ line: 1, amount: 750 }],
      },
      'An amount with its tax': { reason: 'Goodwill', amount: 1_000 },
      'All of it': { reason: 'Charged by mistake' },
    }),
    answer: examplesOf(invoiceSchema, { 'Part of a line': credited }),
  },
  voidInvoice: {
    body: examplesOf(giveUpInvoiceSchema, {
      'A test': { reason: 'Issued for a test account' },
    }),
    answer: examplesOf(invoiceSchema, { 'A test': voided }),
  },
  writeOffInvoice: {
    body: examplesOf(giveUpInvoiceSchema, {
      'An insolvent customer': { reason: 'The customer is insolvent' },
    }),
    answer: examplesOf(invoiceSchema, { 'An insolvent customer': writtenOff }),
  },
  recordOutsidePayment: {
    body: examplesOf(payInvoiceOutsideSchema, {
      'A bank transfer': { reason: 'Bank transfer 4711' },
      'Part of it': { reason: 'Bank transfer 4712', amount: 5_000 },
    }),
    answer: examplesOf(invoiceSchema, { 'A bank transfer': paidOutside }),
  },
  issueInvoice: {
    body: examplesOf(issueInvoiceSchema, {
      'Hours of work': {
        customerRef: refs.customer,
        currency: 'USD',
        lines: [line],
        dueAt: dueDate,
        reason: 'Order 4711',
      },
    }),
    answer: examplesOf(invoiceSchema, { 'Hours of work': oneOff }),
  },
  changeInvoiceDueDate: {
    body: examplesOf(changeDueDateSchema, {
      'A later day': { dueAt: dueDate, reason: 'The customer asked for more time' },
    }),
    answer: examplesOf(invoiceSchema, {
      'A later day': {
        ...invoice,
        dueAt: dueDate,
        decisions: [{ ...decided, kind: 'due_date', reason: 'The customer asked for more time' }],
      },
    }),
  },
  holdInvoice: {
    body: examplesOf(giveUpInvoiceSchema, { 'A complaint': { reason: 'The usage is checked' } }),
    answer: examplesOf(invoiceSchema, {
      'A complaint': {
        ...invoice,
        isHeld: true,
        decisions: [{ ...decided, kind: 'held', reason: 'The usage is checked' }],
      },
    }),
  },
  releaseInvoice: {
    body: examplesOf(giveUpInvoiceSchema, { 'It was right': { reason: 'The usage was right' } }),
    answer: examplesOf(invoiceSchema, {
      'It was right': {
        ...invoice,
        decisions: [{ ...decided, kind: 'released', reason: 'The usage was right' }],
      },
    }),
  },
  refundInvoice: {
    body: examplesOf(refundInvoiceSchema, {
      'Part of it, to the card': { reason: 'Goodwill', to: 'card', amount: 1_000 },
      'All of it, to the balance': { reason: 'The customer changed its mind', to: 'balance' },
    }),
    answer: examplesOf(invoiceSchema, { 'Part of it, to the card': refunded }),
  },
  chargeInvoice: {
    answer: examplesOf(invoiceChargedSchema, { Declined: { result: 'declined', invoice } }),
  },
  getInvoice: { answer: examplesOf(invoiceSchema, { 'A month of a hybrid plan': invoice }) },
}
