import {
  businessDetailsSchema,
  paymentIntentCreateSchema,
  paymentIntentSchema,
  paymentIntentsResponseSchema,
  processedPaymentSchema,
  processPaymentSchema,
  taxedPaymentSchema,
} from '../payment-intents.ts'
import { examplesOf } from './example.ts'
import { instants, purchaseBrief, refs } from './story.ts'

const listed = {
  processorPaymentId: 'pi_3QabcdTollgate0001',
  planRef: refs.proPlan,
  amount: 1_900,
  currency: 'usd',
  status: 'requires_payment_method',
  createdAt: instants.changed,
} as const

const intent = {
  ...listed,
  customerRef: refs.customer,
  originalAmount: 1_900,
  exchangeRate: 1,
  clientSecret: 'pi_3QabcdTollgate0001_secret_example',
  publishableKey: 'pk_test_example',
  transactionId: 'txn_8F3K2M9Q7B1C',
  expiresAt: instants.changed,
} as const

const answer = examplesOf(paymentIntentSchema, {
  'A plan, to be paid': intent,
  'A plan, of which a credit pays a part': {
    ...intent,
    amount: 1_400,
    originalAmount: 1_400,
    fromBalance: 500,
  },
})

export const paymentExamples = {
  listPaymentIntents: {
    answer: examplesOf(paymentIntentsResponseSchema, {
      'Newest first': { paymentIntents: [listed], total: 1 },
    }),
  },
  createPaymentIntent: {
    body: examplesOf(paymentIntentCreateSchema, {
      'A plan': {
        customerRef: refs.externalRef,
        productRef: refs.product,
        planRef: refs.proPlan,
      },
      Credits: {
        customerRef: refs.externalRef,
        purpose: 'credit_topup',
        amount: 2_000,
        currency: 'USD',
      },
    }),
    answer,
  },
  getPaymentIntent: { answer },
  setBusinessDetails: {
    body: examplesOf(businessDetailsSchema, {
      'A business': {
        isBusiness: true,
        businessName: 'Ada Analytics AB',
        country: 'SE',
        taxId: 'SE556012579001',
        customerRef: refs.externalRef,
      },
      'No business': { isBusiness: false, customerCountry: 'SE', customerName: 'Ada Lovelace' },
    }),
    answer: examplesOf(taxedPaymentSchema, {
      'Tax on top of the price': {
        taxBreakdown: {
          subtotal: 1_900,
          taxAmount: 475,
          taxRate: 0.25,
          treatment: 'standard',
          total: 2_375,
          currency: 'USD',
          inclusive: false,
        },
      },
      'A business of another state of the EU': {
        taxBreakdown: {
          subtotal: 1_900,
          taxAmount: 0,
          taxRate: 0,
          treatment: 'reverse_charge',
          total: 1_900,
          currency: 'USD',
          inclusive: false,
        },
      },
    }),
  },
  processPayment: {
    body: examplesOf(processPaymentSchema, { 'What was paid': { customerRef: refs.externalRef } }),
    answer: examplesOf(processedPaymentSchema, {
      'Paid, a plan': { status: 'succeeded', type: 'recurring', purchase: purchaseBrief },
      'Paid, credits': { status: 'succeeded' },
      'Turned down': { status: 'failed' },
    }),
  },
}
