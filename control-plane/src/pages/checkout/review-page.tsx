import type { ReactElement, ReactNode } from 'react'
import { isCreditBased, type Plan } from '@tollgate/domain/plans/plan'
import { pricesIn } from '@tollgate/domain/pricing/plan-prices'
import { costsSomething, usageTermsOf } from '@tollgate/domain/pricing/usage-terms'
import { trialEnd } from '@tollgate/domain/pricing/trial'
import type { Product } from '@tollgate/domain/products/repository'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import type { Notice } from '../notice.tsx'
import { priceWords } from '../purchase-words.ts'
import { PostForm } from '../post-form.tsx'
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
  readonly notice: Notice | undefined
  /** How the plan is taken. */
  readonly children: ReactNode
}

/** The chosen plan, before it is taken. */
export function ReviewPage(props: ReviewProps): ReactElement {
  const { checkout, product, plan, isTriable, held, notice, children } = props
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
        <p className="price">{priceWords(plan, formats)}</p>
        {facts.length > 0 && (
          <ul>
            {facts.map((fact) => (
              <li key={fact}>{fact}</li>
            ))}
          </ul>
        )}
        {replaced !== undefined && (
          <p>{`It takes the place of ${replaced}, which ends at that moment.`}</p>
        )}
      </section>
      {children}
    </CheckoutPage>
  )
}

/** For a plan that nothing is paid for beforehand. */
export function ActivateForm(props: { readonly checkout: Checkout; readonly plan: Plan }) {
  const { checkout, plan } = props
  return (
    <PostForm page={checkout} path="/activate">
      <input type="hidden" name="plan" value={plan.reference} />
      <LaterCharge plan={plan} />
      <button className="button main broad" type="submit">
        Start now
      </button>
    </PostForm>
  )
}

function LaterCharge({ plan }: { readonly plan: Plan }): ReactElement | null {
  const billed = usageTermsOf(plan)
  if (isCreditBased(plan)) {
    return <p className="quiet">Nothing is charged now. What you use is paid from your credits.</p>
  }
  if (billed === undefined || !costsSomething(billed)) return null
  return (
    <p className="quiet">
      Nothing is charged now. What you use is billed at the end of each period, to the card that you
      save in your account.
    </p>
  )
}

type TrialFormProps = {
  readonly checkout: Checkout
  readonly plan: Plan
  readonly now: Date
}

/** For a plan that is tried before it is paid; no card is asked for. */
export function TrialForm({ checkout, plan, now }: TrialFormProps): ReactElement {
  const { date, money } = checkout.frame.formats
  const prices = pricesIn(plan, plan.currency)
  const ends = trialEnd(plan.terms.trialDays, now)
  const firstMinor = (prices?.priceMinor ?? 0n) + (prices?.setupFeeMinor ?? 0n)
  return (
    <PostForm page={checkout} path="/trial">
      <input type="hidden" name="plan" value={plan.reference} />
      {ends !== undefined && (
        <p className="quiet">
          {`Nothing is charged today. ${money(firstMinor, plan.currency)} is due on ${date(ends)}, unless you cancel before; without a card on file the plan pauses then.`}
        </p>
      )}
      <button className="button main broad" type="submit">
        Start the free trial
      </button>
    </PostForm>
  )
}
