import { boundary, dayMs, hourMs, indexAt } from './calendar.ts'
import { isChargedBack } from './disputes.ts'
import {
  carryOver,
  dueOf,
  issue,
  pay,
  type ModelInvoice,
  type ModelLine,
  type Sale,
} from './invoices.ts'
import type { ModelCurrency } from './money.ts'
import { endAt, isEnding, isOpen, noRetries, endIfDue } from './purchase.ts'
import type { ModelCharge, ModelPurchase, UsageRecord } from './records.ts'
import { billNextUsage, waitsForUsage } from './usage.ts'

/* Effects of the scheduled jobs of the wire contract (4.2, 4.3, Q11, Q16) on a purchase at an instant. */

type ModelJob = (purchase: ModelPurchase, at: number, customer: Customer) => void

/** The data of the customer that jobs read. */
type Customer = {
  readonly usage: readonly UsageRecord[]
  readonly currency: ModelCurrency
  unfinishedChargeAt(purchase: ModelPurchase, lines: readonly ModelLine[]): number | undefined
  charge(): ModelCharge
  /** Number of the card that is charged. */
  readonly card: number | undefined
  /** Returns the terms under which charges are sold now. */
  sale(purchase: ModelPurchase, charges: readonly ModelLine[]): Sale
}

const retryHours = [5, 24, 72]
const reminderLeadMs = 72 * hourMs
const writeOffAfterMs = 60 * dayMs

/** The jobs by the runner's names, in the order in which it runs them. */
export const modelJobs: Readonly<Record<string, ModelJob>> = {
  'ended-purchases': (purchase, at) => void endIfDue(purchase, at),
  reminders: remind,
  'trial-expiry': endTrial,
  renewals: (purchase, at, customer) => {
    while (isRenewable(purchase, at) && !waitsForUsage(purchase)) {
      if (!renew(purchase, at, customer)) return
    }
  },
  'usage-billing': billUsage,
  'payment-retries': retry,
  'write-offs': writeOff,
  'usage-reset': resetUsage,
}

function remind(purchase: ModelPurchase, at: number): void {
  const { nextBilling, status, remindedOf, autoRenew } = purchase
  if (nextBilling === null || nextBilling <= at || nextBilling - at > reminderLeadMs) return
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
  if (customer.charge() === 'no card') return suspend(purchase, at)
  const fee = BigInt(plan.setupFee ?? 0)
  const charges: ModelLine[] = [
    priceLine(purchase, anchor),
    ...(fee === 0n ? [] : [{ kind: 'setup_fee', amount: fee } as const]),
  ]
  chargeInvoice(purchase, bill(purchase, charges, at, customer), at, customer)
}

function isRenewable(purchase: ModelPurchase, at: number): boolean {
  const { nextBilling, autoRenew, plan, status } = purchase
  if (status !== 'active' || isEnding(purchase) || !autoRenew || plan.cycle === undefined)
    return false
  return nextBilling !== null && nextBilling <= at
}

/** Renews a purchase. Returns whether the period has begun. */
function renew(purchase: ModelPurchase, at: number, customer: Customer): boolean {
  if (purchase.plan.price === 0) {
    begin(purchase, 'purchase.renewed')
    return true
  }
  const charges = [priceLine(purchase, purchase.nextBilling!)]
  return charge(purchase, bill(purchase, charges, at, customer), at, customer)
}

/** Bills usage. A price that is charged after the usage is renewed with the usage bill, or is on it. */
function billUsage(purchase: ModelPurchase, at: number, customer: Customer): void {
  const { strategy } = purchase.plan
  for (;;) {
    const billed = billNextUsage(purchase, customer.usage, customer.currency, at)
    if (billed === undefined) return
    const { end, lines } = billed
    const isWithPrice =
      end !== undefined && end === purchase.nextBilling && isRenewable(purchase, at)
    if (lines.length > 0) {
      const price = strategy === 'combined' && isWithPrice ? [priceLine(purchase, end)] : []
      charge(purchase, bill(purchase, [...price, ...lines], at, customer), at, customer)
    }
    const isNext = strategy === 'usage_first' && isRenewable(purchase, at)
    if (isNext && !waitsForUsage(purchase)) renew(purchase, at, customer)
  }
}

/** Charges due invoices again, in any status of their purchase. */
function retry(purchase: ModelPurchase, at: number, customer: Customer): void {
  const due = purchase.invoices.filter(
    ({ status, nextCharge }) => status === 'open' && nextCharge !== null && nextCharge <= at,
  )
  const failed = due.filter((invoice) => !chargeInvoice(purchase, invoice, at, customer))
  // If several failed at once, it is undefined which of them was the last.
  if (failed.length > 1 && purchase.status === 'past_due') {
    purchase.retries = failed.map(({ failures, nextCharge }) => ({ failures, next: nextCharge }))
  }
}

/**
 * Writes off invoices that are no longer charged and have not changed for long. Their usage is no longer owed, and their period
 * never begins.
 */
function writeOff(purchase: ModelPurchase, at: number): void {
  for (const invoice of purchase.invoices) {
    const { status, nextCharge, touchedAt } = invoice
    if (status !== 'open' || nextCharge !== null || touchedAt + writeOffAfterMs > at) continue
    if (purchase.status === 'suspended') endAt(purchase, 'expired', at)
    if (invoice.status === 'open' && invoice.period === undefined) invoice.status = 'uncollectible'
  }
}

/** Charges an invoice for the first time. A process that dies before leaves the charge to others. Returns whether it is paid. */
function charge(
  purchase: ModelPurchase,
  invoice: ModelInvoice,
  at: number,
  customer: Customer,
): boolean {
  if (invoice.status === 'draft') return true
  const left = customer.unfinishedChargeAt(purchase, invoice.lines)
  if (left === undefined) return chargeInvoice(purchase, invoice, at, customer)
  invoice.nextCharge = left
  return false
}

/** Charges an invoice. Returns whether it is paid. */
function chargeInvoice(
  purchase: ModelPurchase,
  invoice: ModelInvoice,
  at: number,
  customer: Customer,
): boolean {
  const outcome = customer.charge()
  if (invoice.status === 'open') {
    const isTooLittle = dueOf(invoice) < customer.currency.processorMin
    if (isTooLittle && outcome !== 'no card') carryOver(invoice)
    else if (outcome === 'paid') pay(invoice, { at, card: customer.card })
    else {
      recordDecline(purchase, invoice, at)
      return false
    }
  }
  if (invoice.period === undefined) continuePurchase(purchase, at)
  else beginPaidPeriod(purchase, invoice.period, at)
  return true
}

function recordDecline(purchase: ModelPurchase, invoice: ModelInvoice, at: number): void {
  invoice.failures += 1
  invoice.touchedAt = at
  const hours = retryHours[invoice.failures - 1]
  invoice.nextCharge = hours === undefined ? null : at + hours * hourMs
  if (purchase.status === 'trialing') {
    // It was never paid, so the next attempt waits for another card.
    invoice.nextCharge = null
    return suspend(purchase, at)
  }
  if (purchase.status === 'active' && !isEnding(purchase)) {
    purchase.status = 'past_due'
    purchase.events.push('purchase.past_due')
  }
  if (purchase.status !== 'past_due') return
  purchase.retries = [{ failures: invoice.failures, next: invoice.nextCharge }]
  if (invoice.nextCharge === null) suspend(purchase, at)
}

export function suspend(purchase: ModelPurchase, at: number): void {
  purchase.suspensions.push({ from: at, until: Infinity })
  purchase.status = 'suspended'
  purchase.events.push('purchase.suspended')
}

/** Bills a period. Each period has one bill, however often it is requested. */
function bill(
  purchase: ModelPurchase,
  charges: readonly ModelLine[],
  at: number,
  customer: Customer,
): ModelInvoice {
  const price = charges.find(({ kind }) => kind === 'recurring')
  const billed = purchase.invoices.find(
    ({ status, period }) =>
      status !== 'void' && period !== undefined && period.start === price?.start,
  )
  if (billed !== undefined) return billed
  const period = price && { start: price.start!, end: price.end! }
  const invoice = issue(charges, period, customer.sale(purchase, charges), at)
  purchase.invoices.push(invoice)
  return invoice
}

function priceLine({ plan, mode, anchor }: ModelPurchase, start: number): ModelLine {
  const end = boundary(plan.cycle!, mode, anchor, indexAt(plan.cycle!, mode, anchor, start) + 1)
  return { kind: 'recurring', start, end, amount: BigInt(plan.price) }
}

const paidEvents: Readonly<Partial<Record<ModelPurchase['status'], string>>> = {
  trialing: 'purchase.trial_converted',
  active: 'purchase.renewed',
  past_due: 'purchase.renewed',
  suspended: 'purchase.activated',
}

function beginPaidPeriod(
  purchase: ModelPurchase,
  period: { readonly start: number; readonly end: number },
  at: number,
): void {
  const { plan, status, nextBilling } = purchase
  const event = paidEvents[status]
  if (nextBilling !== period.start || event === undefined || isEnding(purchase)) return
  const isFirst = status === 'trialing' || purchase.amount === 0n
  if (isFirst) purchase.amount = BigInt(plan.price + (plan.setupFee ?? 0))
  begin(purchase, event)
  if (status !== 'suspended') return
  purchase.suspensions.at(-1)!.until = at
  skipUnpaidPeriods(purchase, period.end, at)
}

/** A payment for usage begins no period, but a purchase that was past due continues. */
function continuePurchase(purchase: ModelPurchase, at: number): void {
  const { status, nextBilling, plan, mode, anchor } = purchase
  const isUnpaid = purchase.invoices.some(
    (invoice) => invoice.status === 'open' && invoice.failures > 0,
  )
  if ((status !== 'past_due' && status !== 'suspended') || isUnpaid) return
  // The payment does not replace the money that a dispute withdrew.
  if (status === 'suspended' && isChargedBack(purchase)) return
  Object.assign(purchase, { status: 'active', retries: noRetries })
  purchase.events.push(status === 'past_due' ? 'purchase.updated' : 'purchase.activated')
  if (status === 'past_due') return
  purchase.suspensions.at(-1)!.until = at
  if (nextBilling === null) return
  const index = indexAt(plan.cycle!, mode, anchor, nextBilling)
  if (boundary(plan.cycle!, mode, anchor, index + 1) <= at) skipUnpaidPeriods(purchase, 0, at)
}

/** Skips periods without access, which are not billed. */
function skipUnpaidPeriods(purchase: ModelPurchase, paidUntil: number, at: number): void {
  const { plan, mode, anchor } = purchase
  if (at <= paidUntil) return
  const index = indexAt(plan.cycle!, mode, anchor, at)
  purchase.nextBilling = boundary(plan.cycle!, mode, anchor, index)
}

function begin(purchase: ModelPurchase, event: string): void {
  const { plan, mode, anchor, nextBilling } = purchase
  const index = indexAt(plan.cycle!, mode, anchor, nextBilling!)
  Object.assign(purchase, {
    status: 'active',
    nextBilling: boundary(plan.cycle!, mode, anchor, index + 1),
    retries: noRetries,
  })
  purchase.events.push(event)
}

function resetUsage(purchase: ModelPurchase, at: number): void {
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
