import { eventTypes, type EventObject, type EventType } from '../../event-types.ts'
import { eventApiVersion, type EventEnvelope } from '../webhooks.ts'
import { hosted, refs } from './story.ts'

/* One event of each type, to test receivers with. Amounts and references are invented. */

const created = 1_772_357_400
const monthLater = 1_775_035_800
const dayLater = created + 86_400

const customer = {
  id: refs.customer,
  reference: refs.customer,
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  telephone: null,
  status: 'active',
  created,
} as const

const identity = {
  id: refs.purchase,
  reference: refs.purchase,
  customer: refs.customer,
  plan: refs.proPlan,
  product: refs.product,
  created,
}

function purchase(
  status: EventObject<'purchase.created'>['status'],
): EventObject<'purchase.created'> {
  const terms = { amount: 4900, currency: 'usd', billingCycle: 'monthly', isRecurring: true }
  return { ...identity, ...terms, status }
}

const payment = {
  id: 'txn_6M1S4ZQA8KWX',
  amount: 4900,
  currency: 'usd',
  customer: refs.customer,
  product: refs.product,
  plan: refs.proPlan,
  processor_payment_intent: 'pi_3SAMPLE',
  transaction_reference: 'txn_6M1S4ZQA8KWX',
  created,
}

const refund = {
  id: 're_3SAMPLE',
  amount: 4900,
  currency: 'usd',
  processor_refund: 're_3SAMPLE',
  reason: 'requested_by_customer',
  created,
}

const dispute = {
  id: 'dp_3SAMPLE',
  amount: 4900,
  currency: 'usd',
  reason: 'fraudulent',
  processor_dispute: 'dp_3SAMPLE',
  processor_charge: 'ch_3SAMPLE',
  created,
}

const reached = {
  alert: refs.alert,
  watches: 'limit',
  customer: refs.customer,
  product: refs.product,
  purchase: refs.purchase,
  limit: 'tokens',
  meterName: 'tokens',
  whole: 1_000,
  unit: 'units',
  currency: null,
  periodStart: created,
  periodEnd: monthLater,
  created: dayLater,
} as const

const payout = {
  id: 'po_3SAMPLE',
  amount: 125_000,
  currency: 'usd',
  processor_payout: 'po_3SAMPLE',
  arrival_date: dayLater,
  created,
}

const checkoutSession = {
  id: 'cs_4TX9KQ2MZ7WB',
  session_id: refs.session,
  url: `${hosted}/customer/checkout?id=${refs.session}`,
  amount: 4900,
  currency: 'usd',
  customer: refs.customer,
  product: refs.product,
  plan: refs.proPlan,
  expires_at: created + 900,
  created,
}

function movement(credits: number, amount: number): EventObject<'customer.credit.granted'> {
  const of = { customerId: refs.customer, providerId: refs.provider, productRef: refs.product }
  return { ...of, credits, amount }
}

const period = { periodStart: created, periodEnd: monthLater }

const product = {
  id: refs.product,
  reference: refs.product,
  name: 'Search API',
  productType: 'API',
  isManagedMcp: false,
  isMcpPay: false,
  created,
}

const plan = {
  id: refs.proPlan,
  reference: refs.proPlan,
  name: 'Pro',
  kind: 'recurring',
  price: 4900,
  currency: 'usd',
  requiresPayment: true,
  created,
} as const

const objects: { readonly [Type in EventType]: EventObject<Type> } = {
  'customer.created': { ...customer, product: null },
  'customer.updated': { ...customer, telephone: '+44 20 7946 0000' },
  'customer.deleted': { id: refs.customer, created },
  'customer.balance.payout_failed': {
    customer: refs.customer,
    payout: 'po_4QX8KN2WB7MD',
    refund: 're_8MK3X9QW2NB7',
    amount: 1_000,
    currency: 'usd',
    reason: 'expired_or_canceled_card',
    created,
  },
  'purchase.created': purchase('active'),
  'purchase.activated': purchase('active'),
  'purchase.updated': purchase('active'),
  'purchase.trial_ending': { ...purchase('trialing'), trialEndsAt: monthLater },
  'purchase.trial_converted': purchase('active'),
  'purchase.suspended': { ...purchase('suspended'), reason: 'payment_failed' },
  'purchase.past_due': { ...identity, status: 'past_due', retryCount: 1, nextRetryAt: dayLater },
  'purchase.cancellation_scheduled': purchase('active'),
  'purchase.cancelled': purchase('cancelled'),
  'purchase.reactivated': purchase('active'),
  'purchase.expired': purchase('expired'),
  'purchase.renewed': purchase('active'),
  'purchase.renewal_reminder': { ...purchase('active'), nextBillingAt: monthLater },
  'purchase.refunded': purchase('refunded'),
  'purchase.plan_changed': { ...identity, status: 'active' },
  'purchase.plan_change_scheduled': {
    ...{ ...purchase('active'), plan: refs.proPlan, amount: 4_900, effectiveAt: monthLater },
  },
  'purchase.plan_change_withdrawn': purchase('active'),
  'payment.succeeded': payment,
  'payment.failed': { ...payment, failure_reason: 'insufficient_funds' },
  'payment.refunded': refund,
  'payment.refund_failed': { ...refund, failure_reason: 'lost_or_stolen_card' },
  'payment.refund_pending': { ...refund, status: 'pending' },
  'payment.canceled': payment,
  'payment.disputed': { ...dispute, status: 'needs_response' },
  'payment.dispute_closed': { ...dispute, status: 'won' },
  'payout.paid': { ...payout, status: 'paid' },
  'payout.failed': { ...payout, status: 'failed' },
  'checkout_session.created': { ...checkoutSession, status: 'active' },
  'checkout_session.completed': { ...checkoutSession, status: 'used' },
  'checkout_session.expired': { ...checkoutSession, status: 'expired' },
  'customer.credit.topped_up': movement(110_000, 100_000),
  'customer.credit.low_balance': movement(900, -150),
  'customer.credit.exhausted': movement(0, -150),
  'customer.credit.debited': movement(9_850, -150),
  'customer.credit.granted': movement(10_000, 10_000),
  'customer.credit.adjusted': movement(9_500, -350),
  'customer.credit.expiring': {
    customerId: refs.customer,
    providerId: refs.provider,
    credits: 2_500,
    expiresAt: monthLater,
  },
  'customer.credit.auto_topup_failed': {
    customerRef: refs.customer,
    paymentIntentId: 'pi_3SAMPLE',
    reason: 'insufficient_funds',
  },
  'usage.charged': {
    reference: refs.invoice,
    customer: refs.customer,
    product: refs.product,
    purchase: refs.purchase,
    quantity: 1250,
    amount: 2500,
    currency: 'usd',
    meterName: 'requests',
    ...period,
    created: monthLater,
  },
  'usage.recorded': {
    reference: refs.usage,
    customer: refs.customer,
    product: refs.product,
    purchase: refs.purchase,
    quantity: 1,
    meterName: 'requests',
    recordedAt: created,
  },
  'usage.threshold_reached': { ...reached, percent: 80, threshold: 800, value: 812 },
  'usage.limit_reached': { ...reached, percent: 100, threshold: 1_000, value: 1_000 },
  'usage.reset': {
    id: refs.purchase,
    reference: refs.purchase,
    customer: refs.customer,
    product: refs.product,
    purchase: refs.purchase,
    ...period,
    carriedOverUnits: 0,
    created,
  },
  'product.created': { ...product, status: 'active' },
  'product.updated': { ...product, status: 'active' },
  'product.archived': { ...product, status: 'inactive' },
  'plan.created': { ...plan, status: 'active' },
  'plan.updated': { ...plan, status: 'active' },
  'plan.archived': { ...plan, status: 'archived' },
}

const previousOf: Partial<Record<EventType, EventEnvelope['data']['previous_attributes']>> = {
  'purchase.past_due': { status: 'active' },
  'purchase.plan_changed': { plan: refs.freePlan },
  'purchase.plan_change_scheduled': { plan: refs.freePlan },
  'purchase.plan_change_withdrawn': { plan: refs.proPlan },
}

export function sampleEvent(type: EventType): EventEnvelope {
  return {
    id: refs.event,
    type,
    created,
    api_version: eventApiVersion,
    data: { object: objects[type], previous_attributes: previousOf[type] ?? null },
    livemode: false,
    request: { id: null, idempotency_key: null },
  }
}

export const sampleEvents = eventTypes.map(sampleEvent)
