import {
  customersResponseSchema,
  eventSchema,
  eventsResponseSchema,
  movementsResponseSchema,
  purchasesPageSchema,
  type EventSummaryBody,
} from '../console-lists.ts'
import { marginSchema } from '../margins.ts'
import { usageBreakdownSchema, usageOverTimeSchema } from '../console-usage.ts'
import { overviewSchema } from '../overview.ts'
import { usageExplorerSchema } from '../usage-explorer.ts'
import { examplesOf } from './example.ts'
import { customerSummary, instants, purchase, refs } from './story.ts'

const page = { total: 1, limit: 50, offset: 0 }
const range = { from: '2026-03-01T00:00:00.000Z', to: '2026-03-03T00:00:00.000Z' }
const middle = '2026-03-02T00:00:00.000Z'
const usage = {
  meterName: 'requests',
  ...range,
  total: 250,
  count: 250,
  buckets: [
    { start: range.from, end: middle, value: 180, count: 180 },
    { start: middle, end: range.to, value: 70, count: 70 },
  ],
}

const numbers = {
  events: 250,
  activeCustomers: 1,
  creditsUsed: '120.5',
  creditsSold: '5000',
  revenue: [{ currency: 'USD', paid: 2900, refunded: 0, disputed: 0, net: 2900 }],
}

const event: EventSummaryBody = {
  id: refs.event,
  type: 'purchase.created',
  livemode: false,
  createdAt: instants.created,
  requestId: 'req_5d0c7e9a1b3f4c6d8e2a4b6c8d0e1f2a',
}

export const consoleListExamples = {
  getOverview: {
    answer: examplesOf(overviewSchema, {
      'With the usage of 30 days': {
        customers: 1,
        products: 1,
        purchases: {
          pending: 0,
          active: 1,
          trialing: 0,
          past_due: 0,
          cancelled: 0,
          expired: 0,
          suspended: 0,
          refunded: 0,
        },
        usage,
        timeZone: 'Europe/Paris',
        days: [
          {
            date: '2026-03-02',
            start: '2026-03-01T23:00:00.000Z',
            end: '2026-03-02T23:00:00.000Z',
            ...numbers,
          },
        ],
        total: numbers,
        mrr: [{ currency: 'USD', amount: 2900, purchases: 1 }],
        mrrIsExact: true,
        nearLimits: [
          {
            customerRef: refs.customer,
            customerEmail: customerSummary.email,
            productRef: refs.product,
            purchaseRef: refs.purchase,
            limit: 'requests',
            value: 8_000,
            whole: 10_000,
            reachedAt: '2026-03-02T09:30:00.000Z',
          },
        ],
        hasLimitAlert: true,
        failedPayments: {
          total: 1,
          newest: [
            {
              invoiceRef: refs.invoice,
              customerRef: refs.customer,
              currency: 'USD',
              amount: 2900,
              failedCharges: 1,
              failedAt: '2026-03-02T08:00:00.000Z',
              nextChargeAt: '2026-03-05T08:00:00.000Z',
            },
          ],
        },
        failingEndpoints: [
          {
            reference: refs.webhookEndpoint,
            status: 'enabled',
            failedAttempts: 3,
            since: '2026-03-02T07:00:00.000Z',
          },
        ],
        secondsBehind: 0,
      },
    }),
  },
  listCustomers: {
    answer: examplesOf(customersResponseSchema, {
      'One page': { customers: [customerSummary], ...page },
    }),
  },
  listCreditTransactions: {
    answer: examplesOf(movementsResponseSchema, {
      'A grant and a debit': {
        transactions: [
          {
            reference: 'txn_9KX3QZ7MB1WV',
            kind: 'usage',
            credits: '-100',
            createdAt: instants.now,
          },
          {
            reference: 'txn_2WB8NT5QX6ZK',
            kind: 'grant',
            credits: '50000',
            reason: 'Welcome',
            createdAt: instants.created,
          },
        ],
        ...page,
        total: 2,
      },
    }),
  },
  listPurchasesByPage: {
    answer: examplesOf(purchasesPageSchema, { 'One page': { purchases: [purchase], ...page } }),
  },
  getUsage: { answer: examplesOf(usageOverTimeSchema, { 'By day': usage }) },
  exploreUsage: {
    answer: examplesOf(usageExplorerSchema, {
      'By customer, compared with the days before': {
        ...range,
        timeZone: 'UTC',
        granularity: 'day',
        groupBy: 'customer',
        previous: { from: '2026-02-27T00:00:00.000Z', to: range.from },
        meters: [
          {
            ...{ meterName: 'requests', value: 250, count: 250, buckets: usage.buckets },
            previous: { value: 90, count: 90, buckets: [] },
            groups: [
              {
                ...{ key: refs.customer, name: 'ada@example.com', value: 250, count: 250 },
                buckets: usage.buckets,
                previous: { value: 90, count: 90, buckets: [] },
              },
            ],
          },
        ],
        sql: "SELECT meter_name, sum(value) AS value FROM live.usage_by_purchase WHERE provider_id = 'prv_…' GROUP BY meter_name",
      },
    }),
  },
  getUsageBreakdown: {
    answer: examplesOf(usageBreakdownSchema, {
      'By customer': {
        by: 'customer',
        ...range,
        groups: [{ reference: refs.customer, name: 'Ada Lovelace', value: 250, count: 250 }],
      },
    }),
  },
  getCustomerMargin: {
    answer: examplesOf(marginSchema, {
      'Of one customer': {
        customerRef: refs.customer,
        ...range,
        cost: '0.00317005',
        unpricedCalls: 0,
        debitedCredits: '39.2526',
        invoiced: [{ currency: 'USD', amount: 4_900 }],
        margin: '49.00075521',
      },
    }),
  },
  listEvents: {
    answer: examplesOf(eventsResponseSchema, {
      'One page': { events: [event], hasMore: false },
    }),
  },
  getEvent: {
    answer: examplesOf(eventSchema, {
      'A purchase': {
        ...event,
        data: {
          object: {
            id: refs.purchase,
            reference: refs.purchase,
            status: 'active',
            customer: refs.customer,
            plan: refs.freePlan,
            product: refs.product,
            amount: 0,
            currency: 'usd',
            billingCycle: 'monthly',
            isRecurring: true,
            created: 1_772_357_400,
          },
          previous_attributes: null,
        },
      },
    }),
  },
}
