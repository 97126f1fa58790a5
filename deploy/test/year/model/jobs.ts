import { boundary, hourMs, indexAt } from './calendar.ts'
import { isEnding, isOpen, settleEnd } from './purchase.ts'
import type { BilledPeriod, ModelCharge, ModelPurchase, UsageRecord } from './records.ts'
import { billNextUsage, waitsForUsage } from './usage.ts'

/* What the scheduled jobs of the wire contract (4.2, 4.3, Q11, Q16) make of a purchase at an instant. */

type ModelJob = (purchase: ModelPurchase, at: number, customer: Customer) => void

/** What jobs ask of the customer. */
type Customer = {
  readonly usage: readonly UsageRecord[]
  charge(): ModelCharge
}

const retryHours = [5, 24, 72]
const remindedAheadMs = 72 * hourMs

/** By the names that the runner has for them, in the order in which it goes through them. */
export const modelJobs: Readonly<Record<string, ModelJob>> = {
  'ended-purchases': (purchase, at) => void settleEnd(purchase, at),
  reminders: remind,
  'trial-expiry': endTrial,
  renewals: (purchase, at, customer) => {
    while (isRenewable(purchase, at) && !waitsForUsage(purchase)) {
      if (!renew(purchase, at, customer)) return
    }
  },
  'usage-billing': billUsage,
  'payment-retries': retry,
  'usage-reset': reset,
}

function remind(purchase: ModelPurchase, at: number): void {
  const { nextBilling, status, remindedOf, autoRenew } = purchase
  if (nextBilling === null || nextBilling <= at || nextBilling - at > remindedAheadMs) return
  if (remindedOf === nextBilling || isEnding(purchase)) return
  if (status !== 'trialing' && !(status === 'active' && autoRenew)) return
  purchase.remindedOf = nextBilling
  purchase.events.push(
    status === 'trialing' ? 'purchase.trial_ending' : 'purchase.renewal_reminder',
  )
}

function endTrial(purchase: ModelPurchase, at: number, customer: Customer): void {
  if (purchase.status !== 'trialing' || isEnding(purchase) || purchase.anchor > at) return
  const { plan, anchor } = purchase
  const outcome = customer.charge()
  if (outcome === 'no card') return suspend(purchase)
  const period = bill(purchase, anchor, plan.price + (plan.setupFee ?? 0))
  if (outcome === 'paid') return pay(purchase, period, at)
  // It has not been paid for yet, so nothing is tried before there is another card.
  period.failures = 1
  suspend(purchase)
}

function isRenewable(purchase: ModelPurchase, at: number): boolean {
  const { nextBilling, autoRenew, plan, status } = purchase
  if (status !== 'active' || isEnding(purchase) || !autoRenew || plan.cycle === undefined)
    return false
  return nextBilling !== null && nextBilling <= at
}

/** Whether the period has begun. */
function renew(purchase: ModelPurchase, at: number, customer: Customer): boolean {
  const { plan, nextBilling } = purchase
  if (plan.price === 0) {
    begin(purchase, 'purchase.renewed')
    return true
  }
  return collect(purchase, bill(purchase, nextBilling!, plan.price), at, customer)
}

/** What is paid after the usage, or together with it, is renewed with its bill. */
function billUsage(purchase: ModelPurchase, at: number, customer: Customer): void {
  for (;;) {
    const end = billNextUsage(purchase, customer.usage, at)
    if (end === undefined) return
    const { strategy = 'recurring_first' } = purchase.plan
    const isWithUsage = strategy !== 'recurring_first' && end === purchase.nextBilling
    if (isWithUsage && isRenewable(purchase, at)) renew(purchase, at, customer)
  }
}

/** Of each purchase, whatever its state: what could not be charged is charged again. */
function retry(purchase: ModelPurchase, at: number, customer: Customer): void {
  for (const period of purchase.billed.values()) {
    const { isPaid, nextCharge } = period
    if (!isPaid && nextCharge !== null && nextCharge <= at) collect(purchase, period, at, customer)
  }
}

/** Whether it is paid. */
function collect(
  purchase: ModelPurchase,
  period: BilledPeriod,
  at: number,
  customer: Customer,
): boolean {
  if (customer.charge() === 'paid') {
    pay(purchase, period, at)
    return true
  }
  period.failures += 1
  const hours = retryHours[period.failures - 1]
  period.nextCharge = hours === undefined ? null : at + hours * hourMs
  if (purchase.status === 'active') {
    purchase.status = 'past_due'
    purchase.events.push('purchase.past_due')
  }
  if (purchase.status !== 'past_due') return false
  purchase.failures = period.failures
  purchase.nextRetry = period.nextCharge
  if (period.nextCharge === null) suspend(purchase)
  return false
}

function suspend(purchase: ModelPurchase): void {
  purchase.status = 'suspended'
  purchase.events.push('purchase.suspended')
}

/** Each period has one bill, however often it is asked for. */
function bill(purchase: ModelPurchase, start: number, cents: number): BilledPeriod {
  const { plan, mode, anchor, billed } = purchase
  const end = boundary(plan.cycle!, mode, anchor, indexAt(plan.cycle!, mode, anchor, start) + 1)
  const period = billed.get(start) ?? { end, cents, isPaid: false, failures: 0, nextCharge: null }
  billed.set(start, period)
  return period
}

const paidEvents: Readonly<Partial<Record<ModelPurchase['status'], string>>> = {
  trialing: 'purchase.trial_converted',
  active: 'purchase.renewed',
  past_due: 'purchase.renewed',
  suspended: 'purchase.activated',
}

function pay(purchase: ModelPurchase, period: BilledPeriod, at: number): void {
  const { plan, mode, anchor, status } = purchase
  period.isPaid = true
  period.nextCharge = null
  const isFirst = status === 'trialing' || purchase.amount === 0
  if (isFirst) purchase.amount = plan.price + (plan.setupFee ?? 0)
  begin(purchase, paidEvents[status]!)
  // Periods that went by without access are not asked for.
  if (status === 'suspended' && at > period.end) {
    const index = indexAt(plan.cycle!, mode, anchor, at)
    purchase.nextBilling = boundary(plan.cycle!, mode, anchor, index)
  }
}

function begin(purchase: ModelPurchase, event: string): void {
  const { plan, mode, anchor, nextBilling } = purchase
  const index = indexAt(plan.cycle!, mode, anchor, nextBilling!)
  Object.assign(purchase, {
    status: 'active',
    nextBilling: boundary(plan.cycle!, mode, anchor, index + 1),
    failures: 0,
    nextRetry: null,
  })
  purchase.events.push(event)
}

function reset(purchase: ModelPurchase, at: number): void {
  const { plan, mode, anchor } = purchase
  while (isOpen(purchase) && purchase.nextReset !== null && purchase.nextReset <= at) {
    const from = purchase.nextReset
    if (purchase.end !== null && purchase.end <= from) {
      purchase.nextReset = null
      return
    }
    const next = boundary(plan.cycle!, mode, anchor, indexAt(plan.cycle!, mode, anchor, from) + 1)
    purchase.nextReset = purchase.end !== null && purchase.end <= next ? null : next
    purchase.events.push('usage.reset')
  }
}
