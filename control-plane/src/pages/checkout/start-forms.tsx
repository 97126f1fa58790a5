import { randomUUID } from 'node:crypto'
import type { ReactElement } from 'react'
import { isCreditBased, type Plan } from '@tollgate/domain/plans/plan'
import { pricesIn } from '@tollgate/domain/pricing/plan-prices'
import { costsSomething, usageTermsOf } from '@tollgate/domain/pricing/usage-terms'
import { trialEnd } from '@tollgate/domain/pricing/trial'
import { requiresCard } from '@tollgate/domain/purchases/decide-activation'
import { PostForm } from '../post-form.tsx'
import type { Checkout } from './checkout.ts'
import type { Start } from './take-plan.ts'

type StartProps = {
  readonly checkout: Checkout
  readonly plan: Plan
  /** Says what is charged or credited, and when. Where it is undefined, the form says what later usage costs. */
  readonly words: string | undefined
}

/** For a plan that nothing is paid for beforehand. */
export function ActivateForm({ checkout, plan, words }: StartProps): ReactElement {
  return (
    <PostForm page={checkout} path="/activate">
      <input type="hidden" name="plan" value={plan.reference} />
      <Words plan={plan} words={words} />
      <button className="button main broad" type="submit">
        {words === undefined ? 'Start now' : 'Change plan'}
      </button>
    </PostForm>
  )
}

/** For a plan that starts as soon as the customer has saved a card. */
export function SaveCardForm(props: StartProps & { readonly start: Start }): ReactElement {
  const { checkout, plan, words, start } = props
  return (
    <PostForm page={checkout} path="/card">
      <input type="hidden" name="plan" value={plan.reference} />
      <input type="hidden" name="start" value={start} />
      <input type="hidden" name="attempt" value={randomUUID()} />
      <Words plan={plan} words={words} />
      <p className="quiet">You save a card next, and the plan starts with it.</p>
      <button className="button main broad" type="submit">
        Continue to your card
      </button>
    </PostForm>
  )
}

function Words({ plan, words }: Omit<StartProps, 'checkout'>): ReactElement | null {
  if (words !== undefined) return <p className="quiet">{words}</p>
  const billed = usageTermsOf(plan)
  if (isCreditBased(plan)) {
    return <p className="quiet">Nothing is charged now. What you use is paid from your credits.</p>
  }
  if (billed === undefined || !costsSomething(billed)) return null
  const card = requiresCard(plan) ? 'your saved card' : 'the card that you save in your account'
  return (
    <p className="quiet">
      {`Nothing is charged now. What you use is billed at the end of each period, to ${card}.`}
    </p>
  )
}

type TrialFormProps = {
  readonly checkout: Checkout
  readonly plan: Plan
  readonly now: Date
}

/** For a plan that is tried before it is paid. */
export function TrialForm({ checkout, plan, now }: TrialFormProps): ReactElement {
  const words = trialWords(checkout, plan, now)
  return (
    <PostForm page={checkout} path="/trial">
      <input type="hidden" name="plan" value={plan.reference} />
      {words !== undefined && <p className="quiet">{words}</p>}
      <button className="button main broad" type="submit">
        Start the free trial
      </button>
    </PostForm>
  )
}

/** Says what the plan costs once its trial is over. Returns undefined for a plan without a trial. */
export function trialWords({ frame }: Checkout, plan: Plan, now: Date): string | undefined {
  const { date, money } = frame.formats
  const prices = pricesIn(plan, plan.currency)
  const ends = trialEnd(plan.terms.trialDays, now)
  if (ends === undefined) return undefined
  const firstMinor = (prices?.priceMinor ?? 0n) + (prices?.setupFeeMinor ?? 0n)
  const due = `${money(firstMinor, plan.currency)} is due on ${date(ends)}, unless you cancel before`
  return requiresCard(plan)
    ? `Nothing is charged today. ${due}; it is charged to your saved card.`
    : `Nothing is charged today. ${due}; without a card on file the plan pauses then.`
}
