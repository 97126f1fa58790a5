import type { BillingCycle } from '@tollgate/schemas/http/plan-terms'
import { customCycleDays } from '@tollgate/domain/periods/periods'
import { isCreditBased, type PlanCore } from '@tollgate/domain/plans/plan'
import { billsUsage, chargesUsageLater } from '@tollgate/domain/pricing/billed-charges'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { isEnding } from '@tollgate/domain/purchases/transitions'
import { isLapsed } from '@tollgate/domain/purchases/access'
import type { Reader } from './reader.ts'
import type { TextKey, Texts } from './texts/texts.ts'

/** The status of a purchase in words for its customer. */
export type PurchaseTexts = {
  readonly label: string
  readonly tone: 'good' | 'warning' | 'bad' | 'quiet'
  /** Date of the next event, or of the last one. */
  readonly date?: { readonly label: string; readonly on: Date }
}

/**
 * Fields of a purchase that the words depend on. `planSnapshot` is needed because a plan without a price has no renewal date to
 * show.
 */
type PurchaseState = Pick<
  Purchase,
  'status' | 'cancelledAt' | 'endDate' | 'nextBillingDate' | 'endedAt' | 'planSnapshot'
>

export function purchaseTexts(purchase: PurchaseState, now: Date, t: Texts): PurchaseTexts {
  const past = (label: string): PurchaseTexts => ({ label, tone: 'quiet', ...ended(purchase, t) })
  if (isLapsed(purchase, now)) return past(t('shared:stateEnded'))
  switch (purchase.status) {
    case 'pending':
      return { label: t('shared:statePending'), tone: 'warning' }
    case 'trialing':
      return { label: t('shared:stateTrial'), tone: 'good', ...upcoming(purchase, t) }
    case 'active':
      return isEnding(purchase)
        ? {
            label: t('shared:stateCancelled'),
            tone: 'warning',
            ...dated(t('shared:dateUntil'), purchase.endDate),
          }
        : { label: t('shared:stateActive'), tone: 'good', ...upcoming(purchase, t) }
    case 'past_due':
      return { label: t('shared:statePastDue'), tone: 'bad', ...missed(purchase, now, t) }
    case 'suspended':
      return { label: t('shared:stateSuspended'), tone: 'bad' }
    case 'refunded':
      return past(t('shared:stateRefunded'))
    case 'cancelled':
    case 'expired':
      return past(t('shared:stateEnded'))
  }
}

function upcoming(purchase: PurchaseState, t: Texts): Pick<PurchaseTexts, 'date'> {
  const { nextBillingDate, endDate, status, planSnapshot } = purchase
  if (nextBillingDate === null) return dated(t('shared:dateEnds'), endDate)
  if (status === 'trialing') return dated(t('shared:dateTrialEnds'), nextBillingDate)
  const isFree = planSnapshot !== null && costsNothing(planSnapshot)
  return isFree ? {} : dated(t('shared:dateRenews'), nextBillingDate)
}

/** Returns the date on which a missed payment was due. For usage of an ended period, the purchase stores no such date. */
function missed(
  { nextBillingDate }: PurchaseState,
  now: Date,
  t: Texts,
): Pick<PurchaseTexts, 'date'> {
  const isMissed = nextBillingDate !== null && nextBillingDate <= now
  return isMissed ? dated(t('shared:dateWasDue'), nextBillingDate) : {}
}

function ended({ endedAt, endDate }: PurchaseState, t: Texts): Pick<PurchaseTexts, 'date'> {
  return dated(t('shared:dateEnded'), endedAt ?? endDate)
}

function dated(label: string, on: Date | null): Pick<PurchaseTexts, 'date'> {
  return on === null ? {} : { date: { label, on } }
}

export type Priced = PlanCore & { readonly currency: string }

type Cycle = Exclude<BillingCycle, 'custom'>

const priceKeys = {
  weekly: 'shared:perWeek',
  monthly: 'shared:perMonth',
  quarterly: 'shared:perQuarter',
  yearly: 'shared:perYear',
} as const satisfies Record<Cycle, TextKey>

/** Returns the price of a plan in a few words. */
export function priceText(plan: Priced, { t, formats }: Pick<Reader, 't' | 'formats'>): string {
  const { currency } = plan
  const base = baseMinor(plan)
  const price = base > 0 ? periodPrice(plan, formats.money(BigInt(base), currency), t) : ''
  if (billsUsage(plan)) {
    if (!chargesUsageLater(plan)) return price || t('shared:free')
    return price === '' ? t('shared:payForUse') : t('shared:plusUsage', { price })
  }
  if (plan.terms.charges !== undefined && isCreditBased(plan)) return price || t('shared:payForUse')
  // Credits are shown only for plans whose customers pay with them.
  const each = plan.terms.creditsPerUnit ?? 0
  const usage = each > 0 ? t('shared:creditsPerRequest', { count: each }) : ''
  return [price, usage].filter((text) => text !== '').join(' + ') || t('shared:free')
}

/** Returns whether neither the periods nor the usage of the plan cost anything. */
function costsNothing(plan: Priced): boolean {
  if (chargesUsageLater(plan)) return false
  return baseMinor(plan) === 0
}

function baseMinor({ type, basePriceMinor, priceMinor }: Priced): number {
  return type === 'hybrid' ? (basePriceMinor ?? priceMinor) : priceMinor
}

function periodPrice({ type, terms }: Priced, price: string, t: Texts): string {
  const { billingCycle, billingCycleDays } = terms
  if (type === 'one-time' || billingCycle === undefined) return price
  if (billingCycle === 'custom') {
    const count = billingCycleDays ?? customCycleDays
    return count === 1 ? t('shared:perDay', { price }) : t('shared:perDays', { price, count })
  }
  return t(priceKeys[billingCycle], { price })
}
