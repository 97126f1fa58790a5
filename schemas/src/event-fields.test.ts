import { expect, it } from 'vitest'
import { eventTypes, type EventType } from './event-types.ts'
import { sampleEvents } from './http/examples/events.ts'

/*
 * The fields that receivers were promised, written a second time and not derived from the catalogue. Receivers use these names, so
 * a field that is renamed, removed or sent in another unit would break them unnoticed.
 */

const payment =
  'id amount currency customer product plan processor_payment_intent transaction_reference created'
const refund = 'id amount currency processor_refund reason created'
const dispute = 'id amount currency reason status processor_dispute processor_charge created'
const payout = 'id amount currency status processor_payout arrival_date created'
const held = 'id reference status customer plan product'
const purchase = `${held} amount currency billingCycle isRecurring created`
const customer = 'id reference name email telephone status created'
const session = 'id session_id url status amount currency customer product plan expires_at created'
const credits = 'customerId providerId credits amount productRef'
const reached =
  'alert watches customer product purchase limit meterName percent threshold value whole unit currency periodStart periodEnd created'
const product = 'id reference name status productType isManagedMcp isMcpPay created'
const plan = 'id reference name status kind price currency requiresPayment created'

const promised: Readonly<Record<EventType, string>> = {
  'customer.created': `${customer} product`,
  'customer.updated': customer,
  'customer.deleted': 'id created',
  'customer.balance.payout_failed': 'customer payout refund amount currency reason created',
  'purchase.created': purchase,
  'purchase.activated': purchase,
  'purchase.updated': purchase,
  'purchase.trial_ending': `${purchase} trialEndsAt`,
  'purchase.trial_converted': purchase,
  'purchase.suspended': `${purchase} reason`,
  'purchase.past_due': `${held} retryCount nextRetryAt created`,
  'purchase.cancellation_scheduled': purchase,
  'purchase.cancelled': purchase,
  'purchase.reactivated': purchase,
  'purchase.expired': purchase,
  'purchase.renewed': purchase,
  'purchase.renewal_reminder': `${purchase} nextBillingAt`,
  'purchase.refunded': purchase,
  'purchase.plan_changed': `${held} created`,
  'purchase.plan_change_scheduled': `${purchase} effectiveAt`,
  'purchase.plan_change_withdrawn': purchase,
  'payment.succeeded': payment,
  'payment.failed': `${payment} failure_reason`,
  'payment.refunded': refund,
  'payment.refund_failed': `${refund} failure_reason`,
  'payment.refund_pending': `${refund} status`,
  'payment.canceled': payment,
  'payment.disputed': dispute,
  'payment.dispute_closed': dispute,
  'payout.paid': payout,
  'payout.failed': payout,
  'checkout_session.created': session,
  'checkout_session.completed': session,
  'checkout_session.expired': session,
  'customer.credit.topped_up': credits,
  'customer.credit.low_balance': credits,
  'customer.credit.exhausted': credits,
  'customer.credit.debited': credits,
  'customer.credit.granted': credits,
  'customer.credit.adjusted': credits,
  'customer.credit.expiring': 'customerId providerId credits expiresAt',
  'customer.credit.auto_topup_failed': 'customerRef paymentIntentId reason',
  'usage.charged':
    'reference customer product purchase quantity amount currency meterName periodStart periodEnd created',
  'usage.recorded': 'reference customer product purchase quantity meterName recordedAt',
  'usage.threshold_reached': reached,
  'usage.limit_reached': reached,
  'usage.reset':
    'id reference customer product purchase periodStart periodEnd carriedOverUnits created',
  'product.created': product,
  'product.updated': product,
  'product.archived': product,
  'plan.created': plan,
  'plan.updated': plan,
  'plan.archived': plan,
}

/** All other fields are text, except for the product of a new customer. */
const numbers =
  'amount arrival_date carriedOverUnits created credits effectiveAt expires_at expiresAt nextBillingAt nextRetryAt periodEnd ' +
  'percent periodStart price quantity recordedAt retryCount threshold trialEndsAt value whole'
const booleans = 'isManagedMcp isMcpPay isRecurring requiresPayment'

function kindOf(field: string): string {
  if (numbers.split(' ').includes(field)) return 'number'
  return booleans.split(' ').includes(field) ? 'boolean' : 'string'
}

const unixTimes = /^(created|.*At|.*_at|arrival_date|period(Start|End))$/

it.each(eventTypes)('%s has exactly the promised fields', (type) => {
  const event = sampleEvents.find((sample) => sample.type === type)!
  const { object, previous_attributes: previous } = event.data
  expect(Object.keys(object).toSorted()).toEqual(promised[type].split(' ').toSorted())
  for (const [field, value] of Object.entries(object)) {
    if (value === null || (type === 'customer.created' && field === 'product')) continue
    expect([field, typeof value]).toEqual([field, kindOf(field)])
    // Timestamps are in seconds. In milliseconds they would be 1,000 times as large.
    if (unixTimes.test(field)) expect(Number(value)).toBeLessThan(10_000_000_000)
    if (field === 'currency') expect(value).toMatch(/^[a-z]{3}$/)
  }
  const before = {
    'purchase.past_due': ['status'],
    'purchase.plan_changed': ['plan'],
    'purchase.plan_change_scheduled': ['plan'],
    'purchase.plan_change_withdrawn': ['plan'],
  }
  const told = (before as Partial<Record<EventType, string[]>>)[type]
  expect(previous === null ? undefined : Object.keys(previous)).toEqual(told)
})
