import {
  cloudEventResponseSchema,
  cloudEventSchema,
  cloudEventsResponseSchema,
  cloudEventsSchema,
} from '../cloud-events.ts'
import { limitsRequestSchema, limitsResponseSchema } from '../limits.ts'
import {
  meterEventResponseSchema,
  meterEventsBulkResponseSchema,
  meterEventsBulkSchema,
  meterEventSchema,
} from '../meter-events.ts'
import {
  extendRequestSchema,
  extendResponseSchema,
  releaseRequestSchema,
  releaseResponseSchema,
  reservationsRequestSchema,
  reservationsResponseSchema,
} from '../reservations.ts'
import {
  usageResponseSchema,
  usagesBulkResponseSchema,
  usagesBulkSchema,
  usageSchema,
} from '../usages.ts'
import { examplesOf } from './example.ts'
import { hosted, refs } from './story.ts'

const call = { customerRef: refs.externalRef, productRef: refs.product }

const modelCall = {
  specversion: '1.0' as const,
  id: 'call-7f3e1b',
  source: '/acme/chat',
  type: 'llm.call',
  subject: refs.externalRef,
  productref: refs.product,
  data: { model: 'large', tier: 'standard', usage: { input_tokens: 812, output_tokens: 240 } },
}
const tokenCounts = [
  { meterName: 'input_tokens', value: 812 },
  { meterName: 'output_tokens', value: 240 },
]

const offers = [
  {
    reference: refs.proPlan,
    name: 'Pro',
    type: 'recurring',
    price: 4_900,
    currency: 'USD',
    requiresPayment: true,
    billingCycle: 'monthly',
  },
  {
    reference: refs.creditPlan,
    name: 'Pay as you go',
    type: 'usage-based',
    price: 0,
    currency: 'USD',
    requiresPayment: true,
    billingModel: 'pre-paid',
    creditsPerUnit: 100,
  },
]
const product = { reference: refs.product, name: 'Search API' }
const credits = { creditsPerUnit: 100, currency: 'USD' }

export const usageExamples = {
  recordUsage: {
    body: examplesOf(usageSchema, {
      'One call': call,
      'Several units, safe to repeat': {
        ...call,
        units: 5,
        idempotencyKey: 'search-7f3e1b',
        metadata: { query: 'invoices' },
      },
      'A call that was refused': { ...call, outcome: 'paywall' },
    }),
    answer: examplesOf(usageResponseSchema, {
      'Counted by a plan that is not paid with credits': {
        success: true,
        reference: refs.usage,
        creditDebit: { debited: false, reason: 'plan_not_credit_based' },
      },
      'Paid with credits': {
        success: true,
        reference: refs.usage,
        creditDebit: { debited: true, amount: 100, unitsRemaining: 4 },
      },
      'Recorded before': {
        success: true,
        reference: refs.usage,
        creditDebit: { debited: false, reason: 'duplicate' },
      },
    }),
  },
  recordUsages: {
    body: examplesOf(usagesBulkSchema, {
      'Two calls': {
        events: [
          { ...call, idempotencyKey: 'search-1' },
          { ...call, idempotencyKey: 'search-2', units: 3 },
        ],
      },
    }),
    answer: examplesOf(usagesBulkResponseSchema, {
      'In the order of the request': {
        success: true,
        inserted: 2,
        results: [
          { reference: refs.usage, creditDebit: { debited: true, amount: 100, unitsRemaining: 4 } },
          {
            reference: 'usage_0f2x8m5kq1v7zt3w9b6nh4cjr0',
            creditDebit: { debited: true, amount: 300, unitsRemaining: 1 },
          },
        ],
      },
    }),
  },
  recordEvent: {
    body: examplesOf(cloudEventSchema, { 'A call of a model': modelCall }),
    answer: examplesOf(cloudEventResponseSchema, {
      'Counted on two meters': { success: true, reference: refs.usage, counts: tokenCounts },
      'Recorded before': {
        success: true,
        reference: refs.usage,
        counts: [],
        creditDebit: { debited: false, reason: 'duplicate' },
      },
    }),
  },
  recordEvents: {
    body: examplesOf(cloudEventsSchema, {
      'Two calls of a model': [modelCall, { ...modelCall, id: 'call-7f3e1c' }],
    }),
    answer: examplesOf(cloudEventsResponseSchema, {
      'In the order of the request': {
        success: true,
        inserted: 2,
        results: [
          { reference: refs.usage, counts: tokenCounts },
          { reference: 'usage_0f2x8m5kq1v7zt3w9b6nh4cjr0', counts: tokenCounts },
        ],
      },
    }),
  },
  recordMeterEvent: {
    body: examplesOf(meterEventSchema, {
      'Storage of an hour': {
        customerRef: refs.externalRef,
        meterName: 'gigabyte_hours',
        value: 12.5,
        productRef: refs.product,
        properties: { region: 'eu-west' },
      },
    }),
    answer: examplesOf(meterEventResponseSchema, { Recorded: { success: true } }),
  },
  recordMeterEvents: {
    body: examplesOf(meterEventsBulkSchema, {
      'Storage of two customers': {
        records: [
          { customerRef: refs.externalRef, meterName: 'gigabyte_hours', value: 12.5 },
          { customerRef: 'user_2048', meterName: 'gigabyte_hours', value: 0.75 },
        ],
      },
    }),
    answer: examplesOf(meterEventsBulkResponseSchema, {
      Recorded: { success: true, inserted: 2 },
    }),
  },
  checkLimit: {
    body: examplesOf(limitsRequestSchema, {
      'May this customer call?': call,
      'With a page to pay on, if not': { ...call, includeCheckoutSession: true },
      'And hold ten units': {
        ...call,
        reserve: { units: 10, ttlSeconds: 60 },
        idempotencyKey: 'batch-42',
      },
    }),
    answer: examplesOf(limitsResponseSchema, {
      'Within the limits': {
        withinLimits: true,
        remaining: 750,
        plan: refs.freePlan,
        meterName: 'requests',
      },
      'Used up, with a page to pay on': {
        withinLimits: false,
        remaining: 0,
        plan: refs.freePlan,
        meterName: 'requests',
        product,
        plans: offers,
        checkoutUrl: `${hosted}/customer/checkout?id=${refs.session}`,
        checkoutSessionId: refs.session,
      },
      'Paid with credits': {
        withinLimits: true,
        remaining: 5,
        plan: refs.creditPlan,
        meterName: 'requests',
        creditBalance: 500,
        ...credits,
        balance: { creditBalance: 500, ...credits, remainingUnits: 5 },
      },
      'A default plan waits for consent': {
        withinLimits: false,
        remaining: 0,
        plan: '',
        meterName: 'requests',
        activationRequired: true,
        confirmationUrl: `${hosted}/customer/manage?id=${refs.session}`,
        balance: { creditBalance: 0, ...credits, remainingUnits: 0 },
        product,
        plans: offers,
      },
      'Ten units held': {
        withinLimits: true,
        remaining: 740,
        plan: refs.freePlan,
        meterName: 'requests',
        reservation: { id: refs.reservation, units: 10, expiresAt: '2026-03-14T08:16:30.125Z' },
      },
    }),
  },
  releaseReservation: {
    body: examplesOf(releaseRequestSchema, {
      'What nobody will use': { reservationId: refs.reservation },
    }),
    answer: examplesOf(releaseResponseSchema, {
      'Given back': { success: true, released: true },
      'Used or expired before': { success: true, released: false },
    }),
  },
  extendReservation: {
    body: examplesOf(extendRequestSchema, {
      'Five more minutes': { reservationId: refs.reservation, ttlSeconds: 300 },
    }),
    answer: examplesOf(extendResponseSchema, {
      Extended: { success: true, expiresAt: '2026-03-14T08:20:30.125Z' },
    }),
  },
  reserveUnits: {
    body: examplesOf(reservationsRequestSchema, {
      'Two calls of an agent': {
        ...call,
        allOrNothing: true,
        reservations: [
          { reserve: { estimate: { input_tokens: 4_000 }, ttlSeconds: 120 } },
          { reserve: { credits: 2.5, ttlSeconds: 120 } },
        ],
      },
    }),
    answer: examplesOf(reservationsResponseSchema, {
      'One held': {
        success: true,
        held: 1,
        results: [
          {
            status: 'held',
            limits: {
              withinLimits: true,
              remaining: 740,
              plan: refs.freePlan,
              meterName: 'requests',
              reservation: {
                id: refs.reservation,
                units: 10,
                expiresAt: '2026-03-14T08:16:30.125Z',
              },
            },
          },
          { status: 'full' },
        ],
      },
    }),
  },
}
