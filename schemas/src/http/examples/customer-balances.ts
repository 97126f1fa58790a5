import {
  balancePayoutSchema,
  customerBalanceSchema,
  payOutBalanceSchema,
} from '../customer-balances.ts'
import {
  addInvoiceItemSchema,
  invoiceItemSchema,
  invoiceItemsSchema,
  type InvoiceItemBody,
} from '../invoices.ts'
import { examplesOf } from './example.ts'
import { instants, refs } from './story.ts'

const decidedBy = 'user:usr_5NB8QX2KD7MW'

const line = { description: 'Migration of your data', unitAmount: 12_000, quantity: 2.5 }

const item: InvoiceItemBody = {
  reference: 'ini_5WB7NK2QX9MD',
  currency: 'USD',
  ...line,
  amount: 30_000,
  reason: 'Order 4711',
  addedBy: decidedBy,
  createdAt: instants.periodEnd,
}

export const customerBalanceExamples = {
  getCustomerBalance: {
    answer: examplesOf(customerBalanceSchema, {
      'A credit': {
        balances: [{ currency: 'USD', amount: 1_000, formattedAmount: '$10.00', held: 0 }],
        entries: [
          {
            reference: 'txn_9WD4XK7QB2NM',
            kind: 'credit_note',
            currency: 'USD',
            amount: 1_000,
            invoiceRef: refs.invoice,
            createdAt: instants.periodEnd,
          },
        ],
        ...{ total: 1, limit: 50, offset: 0 },
      },
    }),
  },
  payOutBalance: {
    body: examplesOf(payOutBalanceSchema, {
      'To the card': { reason: 'The customer leaves', currency: 'USD', to: 'card' },
      'A bank transfer': { reason: 'Transfer 4713', currency: 'USD', to: 'other', amount: 500 },
    }),
    answer: examplesOf(balancePayoutSchema, {
      'To the card': {
        reference: 'po_4QX8KN2WB7MD',
        customerRef: refs.customer,
        currency: 'USD',
        amount: 1_000,
        to: 'card',
        reason: 'The customer leaves',
        decidedBy,
        refunds: [
          {
            reference: 're_8MK3X9QW2NB7',
            amount: 1_000,
            status: 'done',
            processorRefund: 're_3Nq8mZ2eXk1Vb7Yw',
          },
        ],
        createdAt: instants.periodEnd,
      },
    }),
  },
  listInvoiceItems: { answer: examplesOf(invoiceItemsSchema, { 'One item': { items: [item] } }) },
  addInvoiceItem: {
    body: examplesOf(addInvoiceItemSchema, {
      'Hours of work': { ...line, currency: 'USD', reason: 'Order 4711' },
      'One amount': {
        description: 'Set-up',
        amount: 5_000,
        currency: 'USD',
        reason: 'Order 4711',
      },
    }),
    answer: examplesOf(invoiceItemSchema, { 'Hours of work': item }),
  },
  removeInvoiceItem: { answer: examplesOf(invoiceItemsSchema, { 'None is left': { items: [] } }) },
}
