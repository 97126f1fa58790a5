import { creditValueMinor } from '@tollgate/domain/money/credits'
import { dollarRate, toFraction } from '@tollgate/domain/money/exchange-rates'
import type { PriceStep } from '@tollgate/domain/overrides/price-steps'
import { isCreditBased, renews, type Plan } from '@tollgate/domain/plans/plan'
import { pricesIn } from '@tollgate/domain/pricing/plan-prices'
import { chargesUsageLater } from '@tollgate/domain/pricing/billed-charges'
import { usageTermsOf } from '@tollgate/domain/pricing/usage-terms'
import { customCycleDays } from '@tollgate/domain/periods/periods'
import type { Reader } from '../reader.ts'
import { chargeFacts } from './charge-facts.ts'
import { planPrice } from './plan-price.ts'
import { usagePrices } from './usage-prices.ts'

type PlanView = {
  readonly currency: string
  /** Later prices of the plan, oldest first. Default: the prices stay the same. */
  readonly steps?: readonly PriceStep<Plan>[]
  /** Whether the customer can start the plan without paying first. */
  readonly isTriable: boolean
}

/** Returns what a customer should know about a plan before choosing it, in addition to the price. */
export function planFacts(
  plan: Plan,
  { currency, isTriable, steps = [] }: PlanView,
  reader: Reader,
): string[] {
  const { t, formats } = reader
  const usageTerms = usageTermsOf(plan)
  const { trialDays = 0, freeUnits = 0, accessExpiryDays = 0, maxUnbilledMinor = 0 } = plan.terms
  const { charges, billAtUnbilledMinor = 0, minimumCommitment = 0 } = plan.terms
  const setupMinor = pricesIn(plan, currency)?.setupFeeMinor ?? 0n
  const facts: readonly (string | false)[] = [
    ...stepFacts(plan, steps, currency, reader),
    charges === undefined &&
      isCreditBased(plan) &&
      t('checkout:requestsCost', { units: exampleUnits, price: examplePrice(plan, formats.money) }),
    isTriable && t('checkout:trialDays', { count: trialDays }),
    endFact(plan, reader),
    noticeFact(plan, reader),
    freeUnits > 0 && t('checkout:freeUnits', { count: freeUnits }),
    limitFact(plan, reader),
    plan.terms.pack !== undefined && t('checkout:packAdds', { units: plan.terms.pack.units }),
    ...(usageTerms === undefined ? [] : usagePrices(usageTerms, reader)),
    ...(charges ?? []).flatMap((charge) => chargeFacts(charge, plan.currency, reader)),
    charges !== undefined && chargesUsageLater(plan) && t('checkout:billedAtEnd'),
    maxUnbilledMinor > 0 &&
      t('checkout:unbilledMax', { amount: formats.money(BigInt(maxUnbilledMinor), plan.currency) }),
    billAtUnbilledMinor > 0 &&
      t('checkout:billedAtAmount', {
        amount: formats.money(BigInt(billAtUnbilledMinor), plan.currency),
      }),
    minimumCommitment > 0 &&
      t('checkout:minimumPerPeriod', {
        amount: formats.money(BigInt(minimumCommitment), plan.currency),
      }),
    setupMinor > 0n && t('checkout:setupFeeOf', { amount: formats.money(setupMinor, currency) }),
    plan.terms.requiresPaymentMethod === true && t('checkout:startsWithCard'),
    accessExpiryDays > 0 &&
      plan.type === 'one-time' &&
      t(plan.terms.pack === undefined ? 'checkout:accessDays' : 'checkout:unitDays', {
        count: accessExpiryDays,
      }),
  ]
  return facts.filter((fact) => fact !== false)
}

/** Returns for each later time which prices are other ones from then on. */
function stepFacts(
  plan: Plan,
  steps: readonly PriceStep<Plan>[],
  currency: string,
  reader: Reader,
): string[] {
  let before = priceTexts(plan, currency, reader)
  return steps.flatMap(({ from, plan: later }) => {
    const texts = priceTexts(later, currency, reader)
    const changed = texts.filter((text) => !before.includes(text))
    before = texts
    if (changed.length === 0) return []
    const prices = changed.join(', ')
    return [reader.t('checkout:pricesFrom', { date: reader.formats.date(from), prices })]
  })
}

function priceTexts(plan: Plan, currency: string, reader: Reader): string[] {
  const usageTerms = usageTermsOf(plan)
  const { charges = [], minimumCommitment = 0 } = plan.terms
  const amount = reader.formats.money(BigInt(minimumCommitment), plan.currency)
  return [
    planPrice(plan, currency, reader),
    ...(usageTerms === undefined ? [] : usagePrices(usageTerms, reader)),
    ...charges.flatMap((charge) => chargeFacts(charge, plan.currency, reader)),
    ...((plan.listed?.terms.minimumCommitment ?? minimumCommitment) > 0
      ? [reader.t('checkout:minimumPerPeriod', { amount })]
      : []),
  ]
}

/** Number of requests for which the price is shown, because the price of a single request is usually far below one cent. */
const exampleUnits = 1_000

function examplePrice({ terms }: Plan, money: Reader['formats']['money']): string {
  const credits = BigInt(terms.creditsPerUnit ?? 0) * BigInt(exampleUnits)
  return money(creditValueMinor(credits, 'USD', toFraction(dollarRate)), 'USD')
}

/** Returns when a plan ends that has only one period. Returns false for other plans. */
function endFact(plan: Plan, { t }: Reader): string | false {
  const { billingCycle, billingCycleDays: count = customCycleDays } = plan.terms
  if (plan.type === 'one-time' || billingCycle === undefined || renews(plan)) return false
  return billingCycle === 'custom'
    ? t('checkout:endsAfterDays', { count })
    : t(`checkout:endsAfter.${billingCycle}`)
}

/** Returns the notice period. Returns false for plans that do not renew and for plans without a notice period. */
function noticeFact(plan: Plan, { t }: Reader): string | false {
  const { cancellationNoticeDays: count = 0 } = plan.terms
  if (count === 0 || plan.type !== 'recurring' || !renews(plan)) return false
  return t('checkout:cancelBefore', { count })
}

/** Returns the limit. With overage, the price includes this number of units; otherwise usage stops at it. */
function limitFact({ terms }: Plan, { t }: Reader): string | false {
  const { limit: count = 0, overagePolicy } = terms
  if (count <= 0) return false
  return overagePolicy?.allowOverage === true
    ? t('checkout:includesUnits', { count })
    : t('checkout:upToUnits', { count })
}
