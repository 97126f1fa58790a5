import { paymentMethodSchema } from '../auto-recharge.ts'
import {
  customerCreateSchema,
  customerDeleteSchema,
  customerSchema,
  customerUpdateSchema,
} from '../customers.ts'
import {
  overridesDeletedSchema,
  overridesResponseSchema,
  overridesUpdateSchema,
} from '../overrides.ts'
import { deletedResponseSchema } from '../plans.ts'
import {
  checkoutSessionCreatedSchema,
  checkoutSessionCreateSchema,
  customerSessionCreatedSchema,
  customerSessionCreateSchema,
  customerSessionSchema,
} from '../sessions.ts'
import { userInfoRequestSchema, userInfoResponseSchema } from '../user-info.ts'
import { examplesOf } from './example.ts'
import { customer, hosted, instants, refs } from './story.ts'

const answer = examplesOf(customerSchema, { Ada: customer })
const customerUrl = `${hosted}/customer/manage?id=${refs.session}`
const ada = { customerRef: refs.externalRef, productRef: refs.product }
const user = {
  reference: refs.customer,
  email: customer.email,
  name: customer.name,
  externalRef: refs.externalRef,
}

const ownTokens = { charge: 'tokens', price: '0.0002', cap: 50_000_000 }
const ownRate = { meter: 'requests', cap: 10, per: 'rolling', rollingSeconds: 60 } as const
const ownPrice = {
  planRef: refs.proPlan,
  price: 7_900,
  setupFee: 0,
  until: '2027-03-01T00:00:00.000Z',
  ramp: [{ periods: 3, price: 3_900 }],
}
const overrides = examplesOf(overridesResponseSchema, {
  'A price and a limit': {
    customerRef: refs.customer,
    productRef: refs.product,
    charges: [ownTokens],
    usageLimits: [ownRate],
    prices: [],
    since: instants.now,
  },
  'An agreed price': {
    customerRef: refs.customer,
    productRef: refs.product,
    charges: [],
    usageLimits: [],
    prices: [ownPrice],
    since: instants.now,
  },
})

export const customerExamples = {
  findCustomer: { answer },
  createCustomer: {
    body: examplesOf(customerCreateSchema, {
      'A user of yours': {
        email: 'ada@initech.example',
        name: 'Ada Lovelace',
        externalRef: refs.externalRef,
        metadata: { company: 'Initech' },
      },
      'An address alone': { email: 'grace@initech.example' },
    }),
    answer: examplesOf(customerSchema, { Created: { ...customer, purchases: [] } }),
  },
  getCustomer: { answer },
  updateCustomer: {
    body: examplesOf(customerUpdateSchema, {
      'A link to a user of yours': { externalRef: refs.externalRef },
      'Another name': { name: 'Ada Lovelace', metadata: { company: 'Initech' } },
    }),
    answer,
  },
  deleteCustomer: {
    body: examplesOf(customerDeleteSchema, {
      'With what is owed charged': { settle: 'bill_now' },
      'With what is owed given up': { settle: 'write_off' },
    }),
    answer: examplesOf(deletedResponseSchema, { Deleted: { success: true } }),
  },
  getOverrides: { answer: overrides },
  setOverrides: {
    body: examplesOf(overridesUpdateSchema, {
      'A lower price and a higher cap': { charges: [ownTokens] },
      'Fewer calls per minute': { usageLimits: [ownRate] },
      'No limit per day': { usageLimits: [{ key: 'daily', cap: null }] },
    }),
    answer: overrides,
  },
  removeOverrides: { answer: examplesOf(overridesDeletedSchema, { Removed: { success: true } }) },
  getUserInfo: {
    body: examplesOf(userInfoRequestSchema, { Ada: ada }),
    answer: examplesOf(userInfoResponseSchema, {
      'With a purchase': {
        status: 'Active subscription: Search API (25% usage consumed)',
        verifyUrl: customerUrl,
        user,
        purchase: {
          reference: refs.purchase,
          status: 'active',
          productName: 'Search API',
          planType: 'recurring',
          startDate: instants.created,
          endDate: null,
          usage: { total: 1_000, used: 250, remaining: 750, percentUsed: 25 },
          plan: {
            reference: refs.freePlan,
            price: 0,
            currency: 'USD',
            type: 'recurring',
            billingCycle: 'monthly',
            features: null,
            limits: null,
          },
        },
      },
      'Without one': { status: 'No active subscription', verifyUrl: customerUrl, user },
    }),
  },
  createCustomerSession: {
    body: examplesOf(customerSessionCreateSchema, { Ada: ada }),
    answer: examplesOf(customerSessionCreatedSchema, {
      'For a quarter of an hour': { sessionId: refs.session, customerUrl },
    }),
  },
  getCustomerSession: {
    answer: examplesOf(customerSessionSchema, {
      Active: {
        sessionId: refs.session,
        status: 'active',
        customerUrl,
        expiresAt: '2026-03-14T08:30:30.125Z',
        customer,
        createdAt: instants.now,
        updatedAt: instants.now,
      },
    }),
  },
  getPaymentMethod: {
    answer: examplesOf(paymentMethodSchema, {
      'A card': {
        kind: 'card',
        brand: 'visa',
        last4: '4242',
        expMonth: 12,
        expYear: 2029,
        reusable: true,
      },
      'None yet': { kind: 'none' },
    }),
  },
  createCheckoutSession: {
    body: examplesOf(checkoutSessionCreateSchema, {
      'A plan': { ...ada, planRef: refs.proPlan, returnUrl: 'https://initech.example/settings' },
      'The customer chooses': ada,
      'More credits': { customerRef: refs.externalRef, purpose: 'credit_topup' },
    }),
    answer: examplesOf(checkoutSessionCreatedSchema, {
      'For a quarter of an hour': {
        sessionId: refs.session,
        checkoutUrl: `${hosted}/customer/checkout?id=${refs.session}`,
      },
    }),
  },
}
