import type { ReactElement } from 'react'
import { PostForm } from '../post-form.tsx'
import type { Reader } from '../reader.ts'
import type { AccountAccess } from './account-routes.ts'
import type { Checkout } from './checkout.ts'
import { ResultCard } from './result-card.tsx'
import { resultRows } from './result-rows.tsx'
import type { CheckoutResult, CheckoutOutcome } from './read-result.ts'

type ResultPageProps = {
  readonly checkout: Checkout
  readonly result: CheckoutResult
  readonly account: AccountAccess | undefined
}

/** The page of a completed checkout. It shows what the customer got, what happens next, and where to continue. */
export function ResultPage({ checkout, result, account }: ResultPageProps): ReactElement {
  const { outcome } = result
  const rows = resultRows(checkout, result)
  const shown = { checkout, account, rows, ...outcomeTexts(outcome, checkout.frame) }
  if (outcome.kind !== 'plan' || outcome.needsCredits !== true) return <ResultCard {...shown} />
  const isOpen = freeUnitsOf(outcome) === 0
  return (
    <ResultCard {...shown} isOpen={isOpen}>
      <PostForm page={checkout} path="/credits">
        <button className="button main" type="submit">
          {checkout.frame.t('checkout:addCredits')}
        </button>
      </PostForm>
    </ResultCard>
  )
}

type ResultTexts = { readonly title: string; readonly text?: string }

function outcomeTexts(outcome: CheckoutOutcome, { t, formats }: Reader): ResultTexts {
  switch (outcome.kind) {
    case 'plan':
      return startedPlanTexts(outcome, { t, formats })
    case 'scheduled': {
      const { plan, from, at } = outcome
      const names = { plan: plan.name, date: formats.date(at) }
      const held = from.planSnapshot?.name ?? from.productName
      return {
        title: t('checkout:planStartsOn', names),
        text: t('checkout:heldUntilThen', { plan: held }),
      }
    }
    case 'credits':
      return {
        title: t('checkout:creditsAdded', { count: Number(outcome.credits) }),
        text: t('checkout:creditsUsable'),
      }
    case 'nothing':
      return { title: t('checkout:checkoutComplete') }
  }
}

type StartedPlan = Extract<CheckoutOutcome, { kind: 'plan' }>

function startedPlanTexts(outcome: StartedPlan, { t }: Pick<Reader, 't' | 'formats'>): ResultTexts {
  const { purchase, plan, isRunning, needsCredits } = outcome
  const { productName: product } = purchase
  if (!isRunning) return { title: t('checkout:checkoutComplete') }
  if (purchase.status === 'trialing') {
    const title = t('checkout:trialStarted', { plan: plan.name })
    return { title, text: t('checkout:startUsing', { product }) }
  }
  const title = t('checkout:planActive', { plan: plan.name })
  // While the balance is unknown, the page does not tell the customer to start.
  if (needsCredits === undefined) return { title }
  if (!needsCredits) return { title, text: t('checkout:startUsing', { product }) }
  const count = freeUnitsOf(outcome)
  return count > 0
    ? { title, text: t('checkout:addCreditsAfterFree', { count }) }
    : {
        title: t('checkout:addCreditsToStart'),
        text: t('checkout:tooFewCredits', { plan: plan.name }),
      }
}

function freeUnitsOf({ plan }: StartedPlan): number {
  return plan.terms.freeUnits ?? 0
}
