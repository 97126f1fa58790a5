import type { ReactElement, ReactNode } from 'react'
import type { Plan } from '@tollgate/domain/plans/plan'
import type { Product } from '@tollgate/domain/products/repository'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import type { Notice } from '../notice.tsx'
import { priceWords } from '../purchase-words.ts'
import type { Checkout } from './checkout.ts'
import { CheckoutPage } from './checkout-page.tsx'
import { planFacts } from './plan-facts.ts'

type ReviewProps = {
  readonly checkout: Checkout
  readonly product: Product
  readonly plan: Plan
  /** Whether it is tried before it is paid. */
  readonly isTriable: boolean
  /** Of the product; ends when the chosen one begins. */
  readonly held: Purchase | undefined
  /** When the plan starts; undefined: now. */
  readonly startsAt: Date | undefined
  readonly notice: Notice | undefined
  /** How the plan is taken. */
  readonly children: ReactNode
}

/** The chosen plan, before it is taken. */
export function ReviewPage(props: ReviewProps): ReactElement {
  const { checkout, product, plan, isTriable, held, startsAt, notice, children } = props
  const { formats } = checkout.frame
  const facts = planFacts(plan, formats, isTriable)
  const replaced = held?.planSnapshot?.name
  return (
    <CheckoutPage checkout={checkout} title={plan.name} notice={notice}>
      {checkout.session.planRef === null && (
        <p>
          <a href={checkout.path}>← All plans</a>
        </p>
      )}
      <div>
        <p className="quiet">{product.name}</p>
        <h1>{plan.name}</h1>
      </div>
      <section className="card" aria-label="What you get">
        <p className="price">{priceWords(plan, checkout.frame)}</p>
        {facts.length > 0 && (
          <ul>
            {facts.map((fact) => (
              <li key={fact}>{fact}</li>
            ))}
          </ul>
        )}
        {replaced !== undefined && (
          <p>
            {startsAt === undefined
              ? `It takes the place of ${replaced}, which ends at that moment.`
              : `It takes the place of ${replaced} on ${formats.date(startsAt)}.`}
          </p>
        )}
      </section>
      {children}
    </CheckoutPage>
  )
}
