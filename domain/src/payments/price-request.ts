import { findMerchant } from '../merchants/repository.ts'
import { findExchangeRate, type ExchangeRate } from '../money/exchange-rates.ts'
import type { CycleMode } from '../periods/periods.ts'
import { isOffered } from '../plans/plan-offer.ts'
import type { Plan } from '../plans/plan.ts'
import { findPlan } from '../plans/repository.ts'
import { findProduct } from '../products/repository.ts'
import { currenciesOf } from '../pricing/plan-prices.ts'
import { findProvider } from '../providers/repository.ts'
import { givesAccess } from '../purchases/access.ts'
import { isPaidFor } from '../purchases/is-paid-for.ts'
import { findDecidingPurchase, findLastOfPlan } from '../purchases/repository.ts'
import type { Operation } from '../unit-of-work/unit-of-work.ts'
import { decidePlanTerms, decideTopUpTerms, type IntentTerms } from './decide-terms.ts'
import type { PaymentParts } from './payment-parts.ts'
import type { PaymentRequest } from './payment-request.ts'

export type PricedRequest = {
  readonly kind: 'priced'
  readonly plan: Plan | undefined
  readonly cycleMode: CycleMode
  readonly terms: IntentTerms
}

export type PriceOutcome =
  | PricedRequest
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'product-not-found' }
  | { readonly kind: 'plan-not-found' }

/** What the request comes to at the prices and rates of now. */
export async function priceRequest(
  { database }: Pick<PaymentParts, 'database'>,
  { providerId, environment, now }: Operation,
  request: PaymentRequest,
): Promise<PriceOutcome> {
  const own = database.of(providerId)
  const provider = await own.control.read((sql) => findProvider(sql, providerId))
  if (provider === undefined) throw new Error(`provider ${providerId} is gone`)
  const { cycleMode, defaultCurrency } = provider
  return own.in(environment).read(async (sql): Promise<PriceOutcome> => {
    const rateOf = (code: string) => findExchangeRate(sql, providerId, code)
    if (request.purpose === 'credit_topup') {
      const { topupCurrencies } = await findMerchant(sql, providerId)
      const currency = request.currency ?? defaultCurrency
      const supportedCurrencies = [...new Set([defaultCurrency, ...topupCurrencies])]
      const asked = { amountMinor: request.amountMinor, currency, supportedCurrencies }
      const decision = decideTopUpTerms(asked, await rateOf(currency))
      if (decision.kind === 'refuse') return refused(decision.reason)
      return { kind: 'priced', plan: undefined, cycleMode, terms: decision.terms }
    }
    const { productRef, planRef, customer } = request
    if (productRef === undefined || planRef === undefined) {
      return refused('productRef and planRef are required unless purpose is credit_topup')
    }
    const product = await findProduct(sql, providerId, productRef)
    if (product === undefined) return { kind: 'product-not-found' }
    const plan = await findPlan(sql, providerId, productRef, planRef)
    if (plan === undefined) return { kind: 'plan-not-found' }
    if (product.status !== 'active' || !isOffered(plan)) {
      return refused(`Plan ${planRef} cannot be bought`)
    }
    const of = { customerRef: customer.reference, productRef, planRef }
    const held = await findDecidingPurchase(sql, providerId, customer.reference, productRef)
    if (held?.planRef === planRef && givesAccess(held, now) && isPaidFor(held)) {
      return refused(`The customer has plan ${planRef} already`)
    }
    const isFirst = (await findLastOfPlan(sql, providerId, of)) === undefined
    const rates = new Map<string, ExchangeRate | undefined>()
    for (const code of currenciesOf(plan)) rates.set(code, await rateOf(code))
    const { currency, amountMinor } = request
    const payment = { plan, currency, amountMinor, isFirst }
    const decision = decidePlanTerms(payment, (code) => rates.get(code))
    if (decision.kind === 'refuse') return refused(decision.reason)
    return { kind: 'priced', plan, cycleMode, terms: decision.terms }
  })
}

function refused(reason: string): PriceOutcome {
  return { kind: 'refused', reason }
}
