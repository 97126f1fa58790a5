import type { Period } from '../periods/periods.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { recurringLines } from '../pricing/charges.ts'
import { pricesIn } from '../pricing/plan-prices.ts'
import type { InvoiceLine } from '../pricing/invoice-line.ts'
import { decideDueRenewal, renewalAfter } from '../purchases/decide-renewal.ts'
import { decideTrialEnd } from '../purchases/decide-trial-end.ts'
import { newScheduledPurchase, switchPrice } from '../purchases/new-purchase.ts'
import { planAfterChange, planAt } from '../purchases/offered-plan.ts'
import type { Purchase } from '../purchases/repository.ts'

/** What happens on the next billing date of a purchase. */
export type RenewalAhead = {
  readonly at: Date
  /** The purchase after it, if it is paid. Undefined if it ends or is suspended then. */
  readonly next: Purchase | undefined
  readonly decision:
    | { readonly kind: 'charge'; readonly period: Period; readonly isFirstCharge: boolean }
    | { readonly kind: 'change'; readonly period: Period; readonly plan: PlanSnapshot }
    /** A trial ends without a card to charge. */
    | { readonly kind: 'suspend' }
    /** The next period begins without a payment. */
    | { readonly kind: 'free' }
}

/** Returns what happens on the next billing date, or now if it has passed. Undefined if no further period begins. */
export function planRenewal(
  purchase: Purchase,
  now: Date,
  hasCard: boolean,
): RenewalAhead | undefined {
  const { nextBillingDate, status } = purchase
  if (nextBillingDate === null) return undefined
  const at = nextBillingDate > now ? nextBillingDate : now
  const decision =
    status === 'trialing' ? decideEndOfTrial(purchase, hasCard, at) : decideDueRenewal(purchase, at)
  const renewed = (change: Partial<Purchase>): Purchase => ({
    ...purchase,
    ...change,
    status: 'active',
  })
  switch (decision.kind) {
    case 'nothing':
      return undefined
    case 'suspend':
    case 'change':
      return { at, decision, next: undefined }
    case 'activate': {
      const { nextBillingDate: date } = decision
      const next = renewed(date === null ? { nextBillingDate: null } : renewalAfter(purchase, date))
      return { at, decision: { kind: 'free' }, next }
    }
    case 'renew': {
      const next = renewed(renewalAfter(purchase, decision.period.end))
      return { at, decision: { kind: 'free' }, next }
    }
    case 'charge':
      return { at, decision, next: renewed(renewalAfter(purchase, decision.period.end)) }
  }
}

/** Decides the end of the trial. If a change of plan takes effect with it, the new terms decide. */
function decideEndOfTrial(purchase: Purchase, hasCard: boolean, at: Date) {
  const decision = decideTrialEnd(purchase, hasCard, at)
  if (decision.kind !== 'change') return decision
  const changed = { ...purchase, planSnapshot: decision.plan, scheduledPlan: null }
  const byNewTerms = decideTrialEnd(changed, hasCard, at)
  return byNewTerms.kind === 'charge' ? decision : byNewTerms
}

/** The price of the next period, which is charged when it begins. */
export type RenewalCharge = {
  /** The purchase that is charged. It begins with the period if the plan changes. */
  readonly of: Purchase
  readonly plan: PlanSnapshot
  readonly period: Period
  readonly lines: readonly InvoiceLine[]
}

/** Returns what is charged on the billing date: for the purchase, or for the one that replaces it then. Undefined if nothing is. */
export function chargeOfRenewal(
  purchase: Purchase,
  { at, decision }: Pick<RenewalAhead, 'at' | 'decision'>,
): RenewalCharge | undefined {
  if (decision.kind !== 'charge' && decision.kind !== 'change') return undefined
  const of = decision.kind === 'charge' ? purchase : replacementOf(purchase, decision, at)
  const charge = decision.kind === 'charge' ? decision : decideDueRenewal(of, at)
  const { planSnapshot: plan, currency } = of
  if (charge.kind !== 'charge' || plan === null) return undefined
  // The billing runner cannot charge it either.
  if (pricesIn(plan, currency) === undefined) return undefined
  const { period, isFirstCharge } = charge
  const priced = planAt(of, plan, period.start)
  return { of, plan, period, lines: recurringLines(priced, currency, period, isFirstCharge) }
}

/** Returns the purchase that begins with the period in place of this one. */
function replacementOf(
  purchase: Purchase,
  { plan: chosen, period }: Extract<RenewalAhead['decision'], { kind: 'change' }>,
  now: Date,
): Purchase {
  const { customerRef, customerEmail, productRef, productName, currency, exchangeRate } = purchase
  const customer = { reference: customerRef, email: customerEmail }
  const plan = planAfterChange(chosen, purchase, period.start)
  const sale = { customer, product: { reference: productRef, name: productName }, plan, now }
  // The amount in dollars is of no interest here.
  const price = switchPrice(plan, currency, exchangeRate ?? '1')
  return newScheduledPurchase(sale, purchase, period, price)
}
