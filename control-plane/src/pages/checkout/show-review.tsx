import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ReactElement } from 'react'
import { findCard } from '@tollgate/domain/cards/repository'
import type { CouponFault } from '@tollgate/domain/coupons/decide-redemption'
import { offeredPlanAhead } from '@tollgate/domain/overrides/priced-plan'
import { isPack } from '@tollgate/domain/packs/pack-terms'
import type { Plan } from '@tollgate/domain/plans/plan'
import { currenciesOf } from '@tollgate/domain/pricing/plan-prices'
import { trialEnd } from '@tollgate/domain/pricing/trial'
import { decideSwitch } from '@tollgate/domain/purchases/decide-switch'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import type { PaymentRequest } from '@tollgate/domain/settlement/payment-request'
import type { TaxDetails } from '@tollgate/domain/tax/tax-details'
import type { Operation } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { PaymentParts } from '@tollgate/domain/payments/payment-parts'
import { read, type ReadParts } from '../../access/read.ts'
import { requireProvider } from '../../access/require.ts'
import { requireCardEntry } from '../card-setup.ts'
import type { Notice } from '../notice.tsx'
import { sendPage } from '../page.tsx'
import type { Selection } from './selection.ts'
import type { NamedCard } from '../card-name.ts'
import { checkoutOf, operationOfCheckout, type Checkout } from './checkout.ts'
import { CouponForm } from './coupon-form.tsx'
import { readCouponText } from './checkout-coupon.ts'
import { chargeAfterTrial, chargeOfChange, firstPeriodEnd, nextChargeOf } from './next-charge.ts'
import { discountedCharge } from './discounted-charge.ts'
import { NotSoldPage } from './not-sold-page.tsx'
import { PayForm, type PayFormProps } from './pay-form.tsx'
import { paymentRequestOf } from './payment-request.ts'
import { replacedText } from './plan-change.ts'
import { priceChoice, readBilling, type PricedChoice } from './read-billing.ts'
import type { Choice, Step } from './read-choice.ts'
import { chargeable } from './read-result.ts'
import { ReviewPage } from './review-page.tsx'
import { taxedCharge } from './taxed-charge.ts'
import { startAfterCard } from './start-plan.ts'
import { discountedStartLines } from './order-summary.tsx'
import { ActivateForm, SaveCardForm, TrialForm, type StartOrder } from './start-forms.tsx'
import type { CardEntries } from '../card-entry.ts'

export type ReviewParts = ReadParts & {
  readonly clock: Clock
  readonly payments: PaymentParts
  readonly cardEntries: CardEntries
}

/** A step in which the customer can take a plan. */
type StartableStep = Exclude<Step, { kind: 'already-active' | 'invalid' }>

type ReviewRequest = {
  readonly choice: Choice
  readonly step: StartableStep
  readonly selection: Selection
  readonly notice: Notice | undefined
}

/** Shows the chosen plan, what it costs now and later, and the form that takes it. */
export async function showReview(
  pages: ReviewParts,
  request: FastifyRequest,
  reply: FastifyReply,
  { choice, step, selection, notice }: ReviewRequest,
): Promise<FastifyReply> {
  const checkout = checkoutOf(request)
  const { product } = choice
  const { plan } = step
  const held = replacedBy(choice, plan)
  const steps = choice.steps.get(plan.reference) ?? []
  const shown = { checkout, product, plan, steps, isTriable: step.kind === 'try', notice }
  const now = new Date(pages.clock.now())
  const { code: refusedCode } = selection
  const send = async (
    currency: string,
    replaced: string | undefined,
    taken: boolean | CouponFault | undefined,
    form: ReactElement,
  ) => {
    const couponText = await readCouponText(pages, checkout, taken)
    return sendPage(
      reply,
      200,
      <ReviewPage {...{ ...shown, currency, replaced }}>
        {form}
        <CouponForm {...{ checkout, planRef: plan.reference, currency, couponText, refusedCode }} />
      </ReviewPage>,
    )
  }
  if (step.kind !== 'payment-required') {
    const untaxed = await readOrder(pages, checkout, step, choice, now)
    const { scheduled, change, currency } = untaxed
    const isWithin = scheduled !== undefined || change !== undefined
    const next = await taxedCharge(pages, checkout, untaxed.next, {
      purchaseRef: choice.held?.reference ?? null,
      used: step.kind === 'discounted' ? step.discounts : [],
      redeemsAtStart: !isWithin,
    })
    const order = { ...untaxed, next }
    const replaced =
      held === undefined || scheduled !== undefined
        ? undefined
        : replacedText(held, change, now, checkout.frame)
    const taken = isWithin ? 'within_period' : takenByStart(step)
    return send(currency, replaced, taken, startForm(pages, checkout, step, order))
  }
  const payForm = await readPayForm(pages, request, { step, choice, selection })
  if (payForm === undefined) {
    const text = checkout.frame.t('checkout:cannotBePaid')
    return sendPage(reply, 410, <NotSoldPage checkout={checkout} text={text} />)
  }
  const replaced = held && replacedText(held, payForm.change, now, checkout.frame)
  const { priced, couponFault } = payForm
  const taken = couponFault ?? priced.hasEnteredCoupon
  return send(priced.currency, replaced, taken, <PayForm {...payForm} />)
}

/** Returns whether the start of the plan takes the entered coupon off its price. Undefined for a plan that has nothing to discount yet. */
function takenByStart(step: UnpaidStep): boolean | undefined {
  return step.kind === 'discounted' ? step.discounts.some(({ isNew }) => isNew) : undefined
}

/** Returns the purchase that the plan replaces. A pack replaces none. */
function replacedBy({ held }: Choice, plan: Plan): Purchase | undefined {
  return isPack(plan) ? undefined : held
}

type UnpaidStep = Exclude<StartableStep, { kind: 'payment-required' }>

function startForm(
  pages: { readonly cardEntries: CardEntries },
  checkout: Checkout,
  step: UnpaidStep,
  order: StartOrder,
): ReactElement {
  const { plan } = step
  const shown = { checkout, plan, order }
  const start = startAfterCard(step)
  if (start !== undefined) {
    requireCardEntry(pages, checkout)
    return <SaveCardForm {...shown} start={start} />
  }
  if (step.kind === 'try') return <TrialForm {...shown} />
  return <ActivateForm {...shown} start={step.kind === 'discounted' ? step.kind : 'activate'} />
}

/** Returns the cost of a plan that starts without a payment, and when it starts. */
async function readOrder(
  pages: ReadParts,
  checkout: Checkout,
  step: UnpaidStep,
  choice: Choice,
  now: Date,
): Promise<StartOrder> {
  const { plan } = step
  const { overrides } = choice
  const nextOf = (currency: string, at: Date | undefined) =>
    nextChargeOf(nextPlan(plan, choice, at), currency, at)
  const savedCard = await readSavedCard(pages, checkout)
  const { cycleMode } = await requireProvider(pages, checkout.caller)
  const { currency } = plan
  const defaults = { change: undefined, scheduled: undefined, trialEndsAt: undefined, savedCard }
  if (step.kind === 'try') {
    const trialEndsAt = trialEnd(plan.terms.trialDays, now)
    const next =
      trialEndsAt &&
      chargeAfterTrial(offeredPlanAhead(plan, overrides, trialEndsAt, 0), currency, trialEndsAt)
    return { ...defaults, currency, trialEndsAt, next }
  }
  if (step.kind === 'discounted') {
    const endsAt = firstPeriodEnd(plan, cycleMode, now)
    const lines = discountedStartLines(step)
    return { ...defaults, currency, lines, next: nextOf(currency, endsAt) }
  }
  const start = step.kind === 'card-required' ? step.start : step
  if (start.kind === 'schedule') {
    const { from } = start.change
    const next = chargeOfChange(start.change)
    return { ...defaults, currency: from.currency, scheduled: start.change, next }
  }
  const { change } = start
  const endsAt = change?.period.end ?? firstPeriodEnd(plan, cycleMode, now)
  const shownIn = change?.currency ?? currency
  return { ...defaults, currency: shownIn, change, next: nextOf(shownIn, endsAt) }
}

/** Returns the plan with the prices of the second period. */
function nextPlan(plan: Plan, { overrides }: Choice, at: Date | undefined): Plan {
  return at === undefined ? plan : offeredPlanAhead(plan, overrides, at, 1)
}

type PaymentStep = {
  readonly step: Extract<Step, { kind: 'payment-required' }>
  readonly choice: Choice
  readonly selection: Selection
}

/** Returns undefined for a plan that cannot be paid now. */
async function readPayForm(
  pages: ReviewParts,
  request: FastifyRequest,
  { step, choice, selection }: PaymentStep,
): Promise<(PayFormProps & Pick<WithCoupon, 'couponFault'>) | undefined> {
  const checkout = checkoutOf(request)
  requireCardEntry(pages, checkout)
  const { plan, isFirstCharge, periodDiscounts } = step
  const currency = currenciesOf(plan).find((code) => code === selection.currency) ?? plan.currency
  const billing = await readBilling(pages, checkout, selection.billing)
  const paymentRequest = paymentRequestOf(checkout, { plan: plan.reference, currency })
  const operation = operationOfCheckout(pages, request)
  const { priced, couponFault } = await priceWithCoupon(
    pages,
    operation,
    paymentRequest,
    billing.details,
  )
  if (priced.kind === 'refused') return undefined
  const { now } = operation
  const { cycleMode } = await requireProvider(pages, checkout.caller)
  const change = decideSwitch({
    held: replacedBy(choice, plan),
    plan,
    isFirstCharge,
    currency,
    at: now,
    periodDiscounts,
  })
  const endsAt = change?.period.end ?? firstPeriodEnd(plan, cycleMode, now)
  const listed = nextChargeOf(nextPlan(plan, choice, endsAt), currency, endsAt)
  const purchaseRef = choice.held?.reference ?? null
  const before = { purchaseRef, used: priced.taken }
  const next = await discountedCharge(pages, checkout, listed, before)
  const savedCard = await readSavedCard(pages, checkout)
  return { checkout, plan, isFirstCharge, billing, priced, couponFault, change, next, savedCard }
}

type WithCoupon = {
  readonly priced: PricedChoice
  /** Why the coupon of the checkout is not in the price. Undefined if it is, or if there is none. */
  readonly couponFault: CouponFault | undefined
}

/** Returns the price without a coupon that cannot be redeemed any more. The payment is refused with the reason. */
async function priceWithCoupon(
  pages: ReviewParts,
  operation: Operation,
  request: PaymentRequest,
  details: TaxDetails | undefined,
): Promise<WithCoupon> {
  const priced = await priceChoice(pages, operation, request, details)
  const couponFault = priced.kind === 'refused' ? priced.couponFault : undefined
  if (couponFault === undefined) return { priced, couponFault }
  const without = { ...request, couponRef: undefined }
  return { priced: await priceChoice(pages, operation, without, details), couponFault }
}

function readSavedCard(
  pages: ReadParts,
  { caller, customer }: Checkout,
): Promise<NamedCard | undefined> {
  return read(pages, caller, async (sql) =>
    chargeable(await findCard(sql, caller.providerId, customer.reference)),
  )
}
