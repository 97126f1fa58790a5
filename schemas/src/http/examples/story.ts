import type { CustomerBody } from '../customers.ts'
import type { MeterBody } from '../meters.ts'
import type { PlanBody } from '../plans.ts'
import type { ProductBody } from '../products.ts'
import type { ChangedPurchaseBody, PurchaseBody, PurchaseBriefBody } from '../purchases.ts'

/*
 * All examples tell one story: Acme sells a search API with a free plan, a monthly plan and a plan that is paid per call. Ada, whom
 * Acme knows as user_1042, uses the free plan and then buys credits.
 */

export const refs = {
  product: 'prd_8KQ2MZ4XW7RT',
  freePlan: 'pln_F3N7QK9XB2LM',
  proPlan: 'pln_P5V8TJ2WD6HC',
  creditPlan: 'pln_C9R4ZL6YK1SG',
  customer: 'cus_4h7kq2m9x3bt',
  externalRef: 'user_1042',
  purchase: 'pur_6WD3NX8KQ1ZV',
  requestsMeter: 'mtr_R2K6YB9LM4TQ',
  storageMeter: 'mtr_S7J1VD5HX8PN',
  tokensMeter: 'mtr_T4K9WB2QZ6YD',
  alert: 'alr_7HQ2ZK9XW4MB',
  coupon: 'cpn_8QZ2XN7HB5KW',
  discount: 'dsc_2XN7HB5KW8QZ',
  testClock: 'tc_5KW8QZ2XN7HB',
  usageCorrection: 'ucr_8ZK4XW2QB7HN',
  planMigration: 'mig_5KW8QZ2XN7HB',
  creditSchedule: 'csh_7HB5KW8QZ2XN',
  usage: 'usage_06b9k3qv7m2xw8t4n1hz5cj0dr',
  session: '3f1c9a7e5b2d4860a1c3e5f7092b4d6e',
  event: 'evt_2M9XK4TQ7BHW',
  webhookEndpoint: 'we_4KX9TQ2MB7HW',
  webhookDelivery: 'dlv_2M9XK4TQ7BHW4KX9TQ2MB7HW',
  webhookReplay: 'wr_7HW2M9XK4TQB',
  email: 'eml_2M9XK4TQ7BHW',
  emailSuppression: 'ems_5TQ4MZ9WX2KB',
  key: 'key_7TQ4MZ9WX2KB',
  user: 'usr_5LK8QZ1XN3VD',
  provider: 'prv_1AC8ME5TQ9ZX',
  invoice: 'inv_3WL7DZ9QK4NB',
  reservation: 'rsv_9m4kx2qv7t1zw8b3n6hc5jd0ea.cus_4h7kq2m9x3bt.prd_8KQ2MZ4XW7RT',
} as const

export const hosted = 'https://billing.acme.example'

export const instants = {
  created: '2026-03-01T09:30:00.000Z',
  changed: '2026-03-02T14:05:12.480Z',
  periodEnd: '2026-04-01T09:30:00.000Z',
  now: '2026-03-14T08:15:30.125Z',
} as const

const planFields = {
  currency: 'USD',
  currencySymbol: '$',
  isActive: true,
  hidden: false,
  default: false,
  status: 'active',
  createdAt: instants.created,
  updatedAt: instants.created,
} as const

export const freePlan: PlanBody = {
  ...planFields,
  reference: refs.freePlan,
  name: 'Free',
  type: 'recurring',
  price: 0,
  requiresPayment: false,
  default: true,
  billingCycle: 'monthly',
  limit: 1_000,
}

export const proPlan: PlanBody = {
  ...planFields,
  reference: refs.proPlan,
  name: 'Pro',
  description: 'For teams: 100,000 searches a month',
  type: 'recurring',
  price: 4_900,
  requiresPayment: true,
  billingCycle: 'monthly',
  limit: 100_000,
  features: { support: 'email', seats: 5 },
}

export const creditPlan: PlanBody = {
  ...planFields,
  reference: refs.creditPlan,
  name: 'Pay as you go',
  type: 'usage-based',
  price: 0,
  requiresPayment: true,
  billingModel: 'pre-paid',
  creditsPerUnit: 100,
  freeUnits: 0,
  measures: 'requests',
  meterRef: refs.requestsMeter,
}

export const product: ProductBody = {
  reference: refs.product,
  name: 'Search API',
  description: 'Full-text search over your documents',
  status: 'active',
  balance: 14_700,
  totalTransactions: 3,
  isMcpPay: false,
  productType: 'api',
  config: { deliveryMethod: 'api', fulfillmentType: 'digital' },
  metadata: { team: 'search' },
  plans: [freePlan, proPlan, creditPlan],
  createdAt: instants.created,
  updatedAt: instants.changed,
}

const purchaseFields = {
  reference: refs.purchase,
  status: 'active',
  startDate: instants.created,
  amount: 0,
  currency: 'USD',
  isRecurring: true,
  billingCycle: 'monthly',
  nextBillingDate: instants.periodEnd,
  metadata: {},
  origin: 'free_default',
  planSnapshot: {
    reference: refs.freePlan,
    name: 'Free',
    price: 0,
    currency: 'USD',
    planType: 'recurring',
    billingCycle: 'monthly',
    features: null,
    limits: null,
    limit: 1_000,
  },
  usage: {
    used: 250,
    overageUnits: 0,
    overageCost: 0,
    carriedOverUnits: 0,
    periodStart: instants.created,
    periodEnd: instants.periodEnd,
  },
} as const

export const purchase: PurchaseBody = {
  ...purchaseFields,
  customerRef: refs.customer,
  customerEmail: 'ada@initech.example',
  productRef: refs.product,
  productName: 'Search API',
  autoRenew: true,
  createdAt: instants.created,
}

/** The same purchase inside a customer. */
export const purchaseBrief: PurchaseBriefBody = {
  ...purchaseFields,
  productRef: refs.product,
  productName: 'Search API',
  planRef: refs.freePlan,
  planType: 'recurring',
}

/** The response to a call that changes the purchase. */
export const changedPurchase: ChangedPurchaseBody = { ...purchaseBrief, ...purchase }

const { nextBillingDate: _, ...endingPurchase } = changedPurchase

export const cancelledPurchase: ChangedPurchaseBody = {
  ...endingPurchase,
  autoRenew: false,
  cancelledAt: instants.now,
  cancellationReason: 'Found something else',
  endDate: instants.periodEnd,
}

export const customer: CustomerBody = {
  reference: refs.customer,
  name: 'Ada Lovelace',
  email: 'ada@initech.example',
  externalRef: refs.externalRef,
  status: 'active',
  created: instants.created,
  metadata: { company: 'Initech' },
  purchases: [purchaseBrief],
}

const { purchases: __, ...summary } = customer

/** The form in lists. */
export const customerSummary = summary

export const requestsMeter: MeterBody = {
  reference: refs.requestsMeter,
  name: 'requests',
  displayName: 'Requests',
  aggregation: 'count',
  unit: 'requests',
  status: 'active',
}

export const tokensMeter: MeterBody = {
  reference: refs.tokensMeter,
  name: 'output_tokens',
  displayName: 'Output tokens',
  aggregation: 'sum',
  unit: 'tokens',
  status: 'active',
  event: { type: 'llm.call', where: { tier: ['standard', 'priority'] } },
  value: '/usage/output_tokens',
  dimensions: ['model'],
  version: 1,
  since: '2026-03-01T00:00:00.000Z',
}

export const storageMeter: MeterBody = {
  reference: refs.storageMeter,
  name: 'gigabyte_hours',
  displayName: 'Storage',
  description: 'Gigabytes of index, by the hour',
  aggregation: 'sum',
  unit: 'GB·h',
  status: 'active',
}
