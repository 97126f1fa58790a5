import type { ReactElement, ReactNode } from 'react'
import type { PriceStep } from '@tollgate/domain/overrides/price-steps'
import type { Plan } from '@tollgate/domain/plans/plan'
import type { Product } from '@tollgate/domain/catalog/products-repository'
import type { Notice } from '../notice.tsx'
import { stepPath, type Checkout } from './checkout.ts'
import { CheckoutPage } from './checkout-page.tsx'
import { planFacts } from './plan-facts.ts'
import { planPriceBesideName } from './plan-price.ts'

type ReviewProps = {
  readonly checkout: Checkout
  readonly product: Product
  readonly plan: Plan
  /** Currency in which the prices are shown. */
  readonly currency: string
  /** Whether the plan starts with a trial. */
  readonly isTriable: boolean
  /** Later prices of the plan. */
  readonly steps: readonly PriceStep<Plan>[]
  /** Text about the plan that ends when the chosen one starts. Undefined if no plan ends. */
  readonly replaced: string | undefined
  readonly notice: Notice | undefined
  /** The form that takes the plan. */
  readonly children: ReactNode
}

/** The page about the chosen plan, before the customer takes it. */
export function ReviewPage(props: ReviewProps): ReactElement {
  const { checkout, product, plan, currency, isTriable, steps, replaced, notice, children } = props
  const { frame, session } = checkout
  const facts = planFacts(plan, { currency, isTriable, steps }, frame)
  return (
    <CheckoutPage checkout={checkout} title={plan.name} notice={notice}>
      {session.planRef === null && (
        <p>
          <a href={stepPath(checkout, { currency: frameCurrency(props) })}>
            {`← ${frame.t('checkout:allPlans')}`}
          </a>
        </p>
      )}
      <div>
        <p className="quiet">{product.name}</p>
        <h1>{plan.name}</h1>
        {product.description !== null && <p className="quiet">{product.description}</p>}
      </div>
      <section className="card" aria-label={frame.t('checkout:whatYouGet')}>
        <p className="price">{planPriceBesideName(plan, currency, frame)}</p>
        {plan.description !== null && <p className="quiet">{plan.description}</p>}
        {facts.length > 0 && (
          <ul>
            {facts.map((fact) => (
              <li key={fact}>{fact}</li>
            ))}
          </ul>
        )}
        {replaced !== undefined && <p>{replaced}</p>}
      </section>
      {children}
    </CheckoutPage>
  )
}

/** Returns the chosen currency, or undefined if it is the plan's own. */
function frameCurrency({ plan, currency }: ReviewProps): string | undefined {
  return currency === plan.currency ? undefined : currency
}
