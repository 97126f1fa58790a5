import type { BillingCycle } from '@tollgate/schemas/http/plan-terms'
import { customCycleDays } from '@tollgate/domain/periods/periods'
import type { PlanCore } from '@tollgate/domain/plans/plan'
import { costsSomething, usageTermsOf } from '@tollgate/domain/pricing/usage-terms'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { isEnding } from '@tollgate/domain/purchases/transitions'
import { isLapsed } from '@tollgate/domain/purchases/access'
import type { Formats } from './formats.ts'

/** What a purchase's state is to its customer. */
export type PurchaseWords = {
  readonly label: string
  readonly tone: 'good' | 'warning' | 'bad' | 'quiet'
  /** What happens next, or happened last. */
  readonly date?: { readonly label: string; readonly on: Date }
}

type Worded = Pick<Purchase, 'status' | 'cancelledAt' | 'endDate' | 'nextBillingDate' | 'endedAt'>

export function purchaseWords(purchase: Worded, now: Date): PurchaseWords {
  if (isLapsed(purchase, now)) return { label: 'Ended', tone: 'quiet', ...ended(purchase) }
  switch (purchase.status) {
    case 'pending':
      return { label: 'Waiting for payment', tone: 'warning' }
    case 'trialing':
      return { label: 'Trial', tone: 'good', ...upcoming(purchase, 'Trial ends') }
    case 'active':
      return isEnding(purchase)
        ? { label: 'Cancelled', tone: 'warning', ...dated('Yours until', purchase.endDate) }
        : { label: 'Active', tone: 'good', ...upcoming(purchase, 'Renews') }
    case 'past_due':
      return { label: 'Payment failed', tone: 'bad', ...missed(purchase, now) }
    case 'suspended':
      return { label: 'Paused', tone: 'bad' }
    case 'refunded':
      return { label: 'Refunded', tone: 'quiet', ...ended(purchase) }
    case 'cancelled':
    case 'expired':
      return { label: 'Ended', tone: 'quiet', ...ended(purchase) }
  }
}

function upcoming(purchase: Worded, label: string): Pick<PurchaseWords, 'date'> {
  if (purchase.nextBillingDate !== null) return dated(label, purchase.nextBillingDate)
  return dated('Ends', purchase.endDate)
}

/** For usage of an ended period nothing was due at a day that the purchase knows. */
function missed({ nextBillingDate }: Worded, now: Date): Pick<PurchaseWords, 'date'> {
  return nextBillingDate !== null && nextBillingDate <= now ? dated('Was due', nextBillingDate) : {}
}

function ended({ endedAt, endDate }: Worded): Pick<PurchaseWords, 'date'> {
  return dated('Ended', endedAt ?? endDate)
}

function dated(label: string, on: Date | null): Pick<PurchaseWords, 'date'> {
  return on === null ? {} : { date: { label, on } }
}

const cycleWords: Readonly<Record<Exclude<BillingCycle, 'custom'>, string>> = {
  weekly: 'week',
  monthly: 'month',
  quarterly: 'quarter',
  yearly: 'year',
}

export type Priced = PlanCore & { readonly currency: string }

/** How long one period is: `one month`. Undefined where there are none. */
export function periodWords({ terms }: Pick<PlanCore, 'terms'>): string | undefined {
  const { billingCycle, billingCycleDays } = terms
  if (billingCycle === undefined) return undefined
  return billingCycle === 'custom'
    ? `${billingCycleDays ?? customCycleDays} days`
    : `one ${cycleWords[billingCycle]}`
}

/** What a plan costs, in a few words. */
export function priceWords(plan: Priced, { money, count }: Formats): string {
  const { type, currency } = plan
  const base = type === 'hybrid' ? (plan.basePriceMinor ?? plan.priceMinor) : plan.priceMinor
  const price = base > 0 ? `${money(BigInt(base), currency)}${everyWords(plan)}` : ''
  const usage = usageWords(plan, count)
  if (price === '' && usage === billedUsage) return 'Pay for what you use'
  return [price, usage].filter((text) => text !== '').join(' + ') || 'Free'
}

const billedUsage = 'usage'

/** Credits are for who pays with them; what is billed afterwards is told of by its prices. */
function usageWords(plan: Priced, count: Formats['count']): string {
  const billed = usageTermsOf(plan)
  if (billed !== undefined) return costsSomething(billed) ? billedUsage : ''
  const each = plan.terms.creditsPerUnit ?? 0
  return each > 0 ? `${count(each)} ${each === 1 ? 'credit' : 'credits'} per request` : ''
}

function everyWords({ type, terms }: Priced): string {
  if (type === 'one-time' || terms.billingCycle === undefined) return ''
  const { billingCycle, billingCycleDays } = terms
  if (billingCycle === 'custom') return ` every ${billingCycleDays ?? customCycleDays} days`
  return ` / ${cycleWords[billingCycle]}`
}
