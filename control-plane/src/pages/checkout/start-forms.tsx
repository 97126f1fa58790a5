import { randomUUID } from 'node:crypto'
import type { ReactElement, ReactNode } from 'react'
import { isCreditBased, type Plan } from '@tollgate/domain/plans/plan'
import { chargesUsageLater } from '@tollgate/domain/pricing/billed-charges'
import type { PlanSwitch, ScheduledChange } from '@tollgate/domain/purchases/decide-switch'
import { requiresCard } from '@tollgate/domain/purchases/decide-activation'
import { PostForm } from '../post-form.tsx'
import { cardName, type NamedCard } from '../card-name.ts'
import type { Checkout } from './checkout.ts'
import type { NextCharge } from './next-charge.ts'
import { OrderSummary } from './order-summary.tsx'
import type { Start } from './start-plan.ts'
import type { SumLine } from './sums.tsx'

/** The cost of a plan that starts without a payment. */
export type StartOrder = {
  /** Undefined if no plan changes within its period. */
  readonly change: PlanSwitch | undefined
  /** The price and its discounts. Absent if nothing but a change is due. */
  readonly lines?: readonly SumLine[]
  /** Undefined if the plan starts now. */
  readonly scheduled: ScheduledChange | undefined
  /** End of the trial. Undefined if the plan starts without a trial. */
  readonly trialEndsAt: Date | undefined
  readonly next: NextCharge | undefined
  readonly currency: string
  readonly savedCard: NamedCard | undefined
}

type StartFormProps = {
  readonly checkout: Checkout
  readonly plan: Plan
  readonly order: StartOrder
}

/** The form for a plan that needs no payment before it starts. */
export function ActivateForm(
  props: StartFormProps & { readonly start?: Exclude<Start, 'trial'> },
): ReactElement {
  const { checkout, plan, order, start = 'activate' } = props
  const { t } = checkout.frame
  const isChange = order.change !== undefined || order.scheduled !== undefined
  return (
    <StartSection {...props}>
      <PostForm page={checkout} path={`/${start}`}>
        <input type="hidden" name="plan" value={plan.reference} />
        <button className="button main broad" type="submit">
          {t(isChange ? 'checkout:changePlan' : 'checkout:startNow')}
        </button>
      </PostForm>
    </StartSection>
  )
}

/** The form for a plan that starts with a trial. */
export function TrialForm(props: StartFormProps): ReactElement {
  const { checkout, plan } = props
  return (
    <StartSection {...props}>
      <PostForm page={checkout} path="/trial">
        <input type="hidden" name="plan" value={plan.reference} />
        <button className="button main broad" type="submit">
          {checkout.frame.t('checkout:startTrial')}
        </button>
      </PostForm>
    </StartSection>
  )
}

/** The form for a plan that starts as soon as the customer has saved a card. */
export function SaveCardForm(props: StartFormProps & { readonly start: Start }): ReactElement {
  const { checkout, plan, start } = props
  const { t } = checkout.frame
  return (
    <StartSection {...props}>
      <PostForm page={checkout} path="/card">
        <input type="hidden" name="plan" value={plan.reference} />
        <input type="hidden" name="start" value={start} />
        <input type="hidden" name="attempt" value={randomUUID()} />
        <p className="quiet">{t('checkout:cardComesNext')}</p>
        <button className="button main broad" type="submit">
          {t('checkout:continueToCard')}
        </button>
      </PostForm>
    </StartSection>
  )
}

function StartSection(props: StartFormProps & { readonly children: ReactNode }): ReactElement {
  const { checkout, plan, order, children } = props
  const { frame } = checkout
  const { currency, change, next, lines = [] } = order
  return (
    <section className="card" aria-label={frame.t('checkout:whatIsDue')}>
      <OrderSummary reader={frame} planName={plan.name} {...{ currency, change, next, lines }} />
      {notesOf(props).map((note) => (
        <p key={note} className="quiet">
          {note}
        </p>
      ))}
      {children}
    </section>
  )
}

/** Returns what a customer should know about the charges before the plan starts. */
function notesOf({ checkout, plan, order }: StartFormProps): string[] {
  const { t, formats } = checkout.frame
  const { trialEndsAt, scheduled, next } = order
  if (trialEndsAt !== undefined) {
    const date = formats.date(trialEndsAt)
    if (next === undefined) return [t('checkout:trialIsFree', { date })]
    const amount = formats.money(next.priceMinor, next.currency)
    const due = next.isPlusTax === true ? 'checkout:trialThenDuePlusTax' : 'checkout:trialThenDue'
    return [t(due, { amount, date }), cardNote(checkout, plan, order)]
  }
  const start = scheduled === undefined ? [] : [scheduleNote(checkout, plan, scheduled)]
  if (isCreditBased(plan)) return [...start, t('checkout:paidFromCredits')]
  if (!chargesUsageLater(plan)) return start
  return [...start, t('checkout:usageBilled', { card: laterCard(checkout, plan, order) })]
}

function cardNote(checkout: Checkout, plan: Plan, order: StartOrder): string {
  const { t } = checkout.frame
  if (order.savedCard === undefined && !requiresCard(plan)) return t('checkout:pausesWithoutCard')
  return t('checkout:chargedTo', { card: laterCard(checkout, plan, order) })
}

function laterCard({ frame }: Checkout, plan: Plan, { savedCard }: StartOrder): string {
  if (savedCard !== undefined) return cardName(savedCard, frame)
  return frame.t(requiresCard(plan) ? 'checkout:cardSavedNext' : 'checkout:cardInAccount')
}

/** Returns when a plan starts that was chosen for a renewal, and whether the old plan renews once more. */
function scheduleNote({ frame }: Checkout, { name: plan }: Plan, change: ScheduledChange): string {
  const { t, formats } = frame
  const { from, at } = change
  const date = formats.date(at)
  const { nextBillingDate } = from
  if (nextBillingDate === null || nextBillingDate >= at) {
    return t('checkout:startsWithRenewal', { plan, date })
  }
  const held = from.planSnapshot?.name ?? from.productName
  const renewal = formats.date(nextBillingDate)
  return t('checkout:startsAfterNotice', { plan, date, held, renewal })
}
