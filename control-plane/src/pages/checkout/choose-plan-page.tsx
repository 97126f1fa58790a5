import type { ReactElement } from 'react'
import type { PriceStep } from '@tollgate/domain/overrides/price-steps'
import type { Plan } from '@tollgate/domain/plans/plan'
import { currenciesOf } from '@tollgate/domain/pricing/plan-prices'
import type { Notice } from '../notice.tsx'
import type { Reader } from '../reader.ts'
import { stepPath, type Checkout } from './checkout.ts'
import { CheckoutPage } from './checkout-page.tsx'
import { CurrencyChoice } from './currency-choice.tsx'
import { planFacts } from './plan-facts.ts'
import { planPriceBesideName } from './plan-price.ts'
import type { Choice } from './read-choice.ts'

type ChoosePlanProps = {
  readonly checkout: Checkout
  readonly choice: Choice
  /** Currency that the customer chose. If it is undefined, or no plan has it, each plan shows its own currency. */
  readonly currency: string | undefined
  readonly notice: Notice | undefined
}

export function ChoosePlanPage(props: ChoosePlanProps): ReactElement {
  const { checkout, choice, notice } = props
  const { product, plans, steps, triable, soldOut, held } = choice
  const { t } = checkout.frame
  const title = t('checkout:choosePlanOf', { product: product.name })
  const currencies = [...new Set(plans.flatMap(currenciesOf))]
  const currency = currencies.find((code) => code === props.currency)
  const planCurrencies = new Set(plans.map((plan) => plan.currency))
  const [commonCurrency] = planCurrencies.size === 1 ? planCurrencies : []
  return (
    <CheckoutPage checkout={checkout} title={title} notice={notice} isWide>
      <h1>{title}</h1>
      {product.description !== null && <p className="quiet">{product.description}</p>}
      <CurrencyChoice
        reader={checkout.frame}
        currencies={currencies}
        current={currency ?? commonCurrency}
        pathOf={(code) => stepPath(checkout, { currency: code })}
      />
      {plans.length === 0 && <p className="card quiet">{t('checkout:noPlans')}</p>}
      <div className="plan-grid">
        {plans.map((plan) => {
          const shown = currenciesOf(plan).find((code) => code === currency)
          return (
            <PlanCard
              key={plan.reference}
              plan={plan}
              steps={steps.get(plan.reference) ?? []}
              reader={checkout.frame}
              currency={shown ?? plan.currency}
              chosenCurrency={currency}
              href={stepPath(checkout, { plan: plan.reference, currency: shown })}
              isTriable={triable.has(plan.reference)}
              isHeld={held?.planRef === plan.reference}
              isSoldOut={soldOut.has(plan.reference)}
            />
          )
        })}
      </div>
    </CheckoutPage>
  )
}

type PlanCardProps = {
  readonly plan: Plan
  readonly steps: readonly PriceStep<Plan>[]
  readonly reader: Reader
  readonly currency: string
  readonly chosenCurrency: string | undefined
  readonly href: string
  readonly isTriable: boolean
  readonly isHeld: boolean
  readonly isSoldOut: boolean
}

function PlanCard(props: PlanCardProps): ReactElement {
  const { plan, steps, reader, currency, chosenCurrency, href } = props
  const { isTriable, isHeld, isSoldOut } = props
  const { t } = reader
  const facts = planFacts(plan, { currency, isTriable, steps }, reader)
  return (
    <article className="card" aria-label={plan.name}>
      <div className="row spread">
        <h2>{plan.name}</h2>
        {isHeld && <span className="badge good">{t('checkout:yourPlan')}</span>}
        {!isHeld && isSoldOut && <span className="badge quiet">{t('checkout:soldOut')}</span>}
      </div>
      <p className="price">{planPriceBesideName(plan, currency, reader, chosenCurrency)}</p>
      {plan.description !== null && <p className="quiet">{plan.description}</p>}
      {facts.length > 0 && (
        <ul>
          {facts.map((fact) => (
            <li key={fact}>{fact}</li>
          ))}
        </ul>
      )}
      {!isHeld && !isSoldOut && (
        <div className="actions">
          <a
            className="button main broad"
            href={href}
            aria-label={t('checkout:choosePlanNamed', { plan: plan.name })}
          >
            {t('checkout:choose')}
          </a>
        </div>
      )}
    </article>
  )
}
