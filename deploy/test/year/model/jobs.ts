import { boundary, hourMs, indexAt } from './calendar.ts'
import { isEnding, isOpen, settleEnd, type ModelPurchase } from './purchase.ts'

/* What the scheduled jobs of the wire contract (4.2, 4.3, Q11, Q16) make of a purchase at an instant. */

/** What comes of charging the customer: nobody can, or there is no card that could be. */
export type ModelCharge = 'paid' | 'declined' | 'declined for good' | 'nobody' | 'no card'

export type ModelJob = (purchase: ModelPurchase, at: number, charge: () => ModelCharge) => void

const retryHours = [5, 24, 72]
const remindedAheadMs = 72 * hourMs

/** By the names that the runner has for them, in the order in which it goes through them. */
export const modelJobs: Readonly<Record<string, ModelJob>> = {
  'ended-purchases': (purchase, at) => void settleEnd(purchase, at),
  reminders: remind,
  'trial-expiry': endTrial,
  renewals: (purchase, at, charge) => {
    while (isRenewable(purchase, at) && purchase.status === 'active') {
      if (!renew(purchase, at, charge)) return
    }
  },
  'payment-retries': (purchase, at, charge) => {
    const { status, nextRetry } = purchase
    if (status !== 'past_due' || nextRetry === null || nextRetry > at) return
    if (isRenewable(purchase, at)) renew(purchase, at, charge)
  },
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

function endTrial(purchase: ModelPurchase, at: number, charge: () => ModelCharge): void {
  if (purchase.status !== 'trialing' || isEnding(purchase) || purchase.anchor > at) return
  const { plan, anchor } = purchase
  const outcome = charge()
  if (outcome === 'no card') return suspend(purchase)
  const { isPaid } = bill(purchase, anchor, plan.price + (plan.setupFee ?? 0), outcome)
  if (isPaid) return pay(purchase, 'purchase.trial_converted')
  if (outcome !== 'nobody') suspend(purchase)
}

function isRenewable(purchase: ModelPurchase, at: number): boolean {
  const { nextBilling, autoRenew, plan } = purchase
  if (isEnding(purchase) || !autoRenew || plan.cycle === undefined) return false
  return nextBilling !== null && nextBilling <= at
}

/** Whether the period has begun. */
function renew(purchase: ModelPurchase, at: number, charge: () => ModelCharge): boolean {
  const { plan, nextBilling } = purchase
  if (plan.price === 0) {
    pay(purchase, 'purchase.renewed')
    return true
  }
  const outcome = charge()
  if (outcome !== 'no card') {
    const { isPaid } = bill(purchase, nextBilling!, plan.price, outcome)
    if (isPaid) {
      pay(purchase, 'purchase.renewed')
      return true
    }
    if (outcome === 'nobody') return false
  } else {
    bill(purchase, nextBilling!, plan.price, outcome)
  }
  fail(purchase, at, outcome !== 'declined')
  return false
}

function fail(purchase: ModelPurchase, at: number, isFinal: boolean): void {
  purchase.failures += 1
  if (purchase.status === 'active') {
    purchase.status = 'past_due'
    purchase.events.push('purchase.past_due')
  }
  const hours = isFinal ? undefined : retryHours[purchase.failures - 1]
  purchase.nextRetry = hours === undefined ? null : at + hours * hourMs
  if (hours === undefined) suspend(purchase)
}

function suspend(purchase: ModelPurchase): void {
  purchase.status = 'suspended'
  purchase.events.push('purchase.suspended')
}

/** Each period has one bill, however often it is asked for. */
function bill(purchase: ModelPurchase, start: number, cents: number, outcome: ModelCharge) {
  const { plan, mode, anchor, billed } = purchase
  const end = boundary(plan.cycle!, mode, anchor, indexAt(plan.cycle!, mode, anchor, start) + 1)
  const period = billed.get(start) ?? { end, cents, isPaid: false }
  period.isPaid ||= outcome === 'paid'
  billed.set(start, period)
  return period
}

function pay(purchase: ModelPurchase, event: string): void {
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
