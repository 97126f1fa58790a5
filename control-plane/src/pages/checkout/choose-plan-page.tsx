import type { ReactElement } from 'react'
import type { Plan } from '@tollgate/domain/plans/plan'
import type { Reader } from '../reader.ts'
import type { Notice } from '../notice.tsx'
import { priceWords } from '../purchase-words.ts'
import { stepPath, type Checkout } from './checkout.ts'
import { CheckoutPage } from './checkout-page.tsx'
import { planFacts } from './plan-facts.ts'
import type { Choice } from './read-choice.ts'

type ChoosePlanProps = {
  readonly checkout: Checkout
  readonly choice: Choice
  readonly notice: Notice | undefined
}

export function ChoosePlanPage({ checkout, choice, notice }: ChoosePlanProps): ReactElement {
  const { product, plans, triable, soldOut, held } = choice
  const { frame } = checkout
  return (
    <CheckoutPage checkout={checkout} title={`Plans of ${product.name}`} notice={notice}>
      <h1>{`Choose a plan for ${product.name}`}</h1>
      {product.description !== null && <p className="quiet">{product.description}</p>}
      {plans.length === 0 && (
        <p className="card quiet">There is no plan to choose at the moment.</p>
      )}
      {plans.map((plan) => (
        <PlanCard
          key={plan.reference}
          plan={plan}
          reader={frame}
          href={stepPath(checkout, { plan: plan.reference })}
          isTriable={triable.has(plan.reference)}
          isHeld={held?.planRef === plan.reference}
          isSoldOut={soldOut.has(plan.reference)}
        />
      ))}
    </CheckoutPage>
  )
}

type PlanCardProps = {
  readonly plan: Plan
  readonly reader: Reader
  readonly href: string
  readonly isTriable: boolean
  readonly isHeld: boolean
  readonly isSoldOut: boolean
}

function PlanCard(props: PlanCardProps): ReactElement {
  const { plan, reader, href, isTriable, isHeld, isSoldOut } = props
  const facts = planFacts(plan, reader.formats, isTriable)
  return (
    <article className="card" aria-label={plan.name}>
      <div className="row spread">
        <h2>{plan.name}</h2>
        {isHeld && <span className="badge good">Your plan</span>}
        {!isHeld && isSoldOut && <span className="badge quiet">Sold out</span>}
      </div>
      <p className="price">{priceWords(plan, reader)}</p>
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
          <a className="button main" href={href} aria-label={`Choose ${plan.name}`}>
            Choose
          </a>
        </div>
      )}
    </article>
  )
}
