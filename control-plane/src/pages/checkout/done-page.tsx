import type { ReactElement } from 'react'
import { PostForm } from '../post-form.tsx'
import type { Reader } from '../reader.ts'
import type { WayToAccount } from './account-routes.ts'
import type { Checkout } from './checkout.ts'
import { DoneCard } from './done-card.tsx'
import { doneRows } from './done-rows.tsx'
import type { Done, Given } from './read-done.ts'

type DonePageProps = {
  readonly checkout: Checkout
  readonly done: Done
  readonly account: WayToAccount | undefined
}

/** The page of a completed checkout. It shows what the customer got, what happens next, and where to continue. */
export function DonePage({ checkout, done, account }: DonePageProps): ReactElement {
  const { given } = done
  const rows = doneRows(checkout, done)
  const shown = { checkout, account, rows, ...givenWords(given, checkout.frame) }
  if (given.kind !== 'plan' || given.needsCredits !== true) return <DoneCard {...shown} />
  const isOpen = freeUnitsOf(given) === 0
  return (
    <DoneCard {...shown} isOpen={isOpen}>
      <PostForm page={checkout} path="/credits">
        <button className="button main" type="submit">
          {checkout.frame.t('checkout:addCredits')}
        </button>
      </PostForm>
    </DoneCard>
  )
}

type Words = { readonly title: string; readonly text?: string }

function givenWords(given: Given, { t, formats }: Reader): Words {
  switch (given.kind) {
    case 'plan':
      return planWords(given, { t, formats })
    case 'scheduled': {
      const { plan, from, at } = given
      const names = { plan: plan.name, date: formats.date(at) }
      const held = from.planSnapshot?.name ?? from.productName
      return {
        title: t('checkout:planStartsOn', names),
        text: t('checkout:heldUntilThen', { plan: held }),
      }
    }
    case 'credits':
      return {
        title: t('checkout:creditsAdded', { count: Number(given.credits) }),
        text: t('checkout:creditsUsable'),
      }
    case 'nothing':
      return { title: t('checkout:checkoutComplete') }
  }
}

type GivenPlan = Extract<Given, { kind: 'plan' }>

function planWords(given: GivenPlan, { t }: Pick<Reader, 't' | 'formats'>): Words {
  const { purchase, plan, isRunning, needsCredits } = given
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
  const count = freeUnitsOf(given)
  return count > 0
    ? { title, text: t('checkout:addCreditsAfterFree', { count }) }
    : {
        title: t('checkout:addCreditsToStart'),
        text: t('checkout:tooFewCredits', { plan: plan.name }),
      }
}

function freeUnitsOf({ plan }: GivenPlan): number {
  return plan.terms.freeUnits ?? 0
}
