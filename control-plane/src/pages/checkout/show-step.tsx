import type { FastifyReply, FastifyRequest } from 'fastify'
import { findMerchant } from '@tollgate/domain/merchants/repository'
import { read } from '../../access/read.ts'
import { requireProvider } from '../../access/require.ts'
import { requireCardEntry } from '../card-setup.ts'
import type { Notice } from '../notice.tsx'
import { sendPage } from '../page.tsx'
import { ProblemError, problems } from '../problem.tsx'
import { completedAtOf, accountAccessOf } from './account-routes.ts'
import { AlreadyActivePage } from './already-active-page.tsx'
import type { Selection } from './selection.ts'
import { checkoutOf, operationOfCheckout, type Checkout } from './checkout.ts'
import { ChoosePlanPage } from './choose-plan-page.tsx'
import { DebtsPage } from './debts-page.tsx'
import { ResultPage } from './result-page.tsx'
import { nextChargeOfPurchase } from './next-charge.ts'
import { NotSoldPage } from './not-sold-page.tsx'
import { priceChoice, readBilling } from './read-billing.ts'
import { readChoice, readStep, type Choice } from './read-choice.ts'
import { readDebts } from './read-debts.ts'
import { readResult, type ResultParts } from './read-result.ts'
import { paymentRequestOf } from './payment-request.ts'
import { showReview, type ReviewParts } from './show-review.tsx'
import { taxedCharge } from './taxed-charge.ts'
import { TopUpPage } from './top-up-page.tsx'
import type { Plan } from '@tollgate/domain/plans/plan'
import { freePlanHeldReason, soldOutReason } from '@tollgate/domain/purchases/decide-activation'
import { decideChange } from '@tollgate/domain/purchases/decide-switch'
import { isEnding } from '@tollgate/domain/purchases/transitions'

export type StepParts = ReviewParts & ResultParts & { readonly basePath: string }

/** Shows the page of the customer's current step: the completed checkout, the choice of plans, or the review of the chosen plan. */
export async function showStep(
  pages: StepParts,
  request: FastifyRequest,
  reply: FastifyReply,
  selection: Selection,
  notice?: Notice,
): Promise<FastifyReply> {
  const checkout = checkoutOf(request)
  const { session, frame, status } = checkout
  if (status === 'used') return showResult(pages, request, reply)
  if (session.purpose === 'credit_topup') return showTopUp(pages, request, reply, selection, notice)
  const invoices = await readDebts(pages, checkout)
  if (invoices.length > 0) return sendPage(reply, 200, DebtsPage({ checkout, invoices, notice }))
  const choice = await readChoice(pages, checkout)
  if (choice === undefined) throw new ProblemError(problems.notForSale, frame)
  const planRef = session.planRef ?? selection.planRef
  const plan = choice.plans.find(({ reference }) => reference === planRef)
  if (planRef === undefined || plan === undefined) {
    if (session.planRef !== null) throw new ProblemError(problems.notForSale, frame)
    const { currency } = selection
    return sendPage(reply, 200, <ChoosePlanPage {...{ checkout, choice, currency, notice }} />)
  }
  const step = await readStep(pages, checkout, choice, planRef)
  if (step.kind === 'already-active') {
    const account = accountAccessOf(pages, request, undefined)
    const { purchase } = step
    const next = await taxedCharge(pages, checkout, nextChargeOfPurchase(purchase), {
      purchaseRef: purchase.reference,
    })
    return sendPage(reply, 200, <AlreadyActivePage {...{ checkout, purchase, next, account }} />)
  }
  if (step.kind === 'invalid') {
    const text = stepRefusalText(checkout, choice, plan, step.reason, new Date(pages.clock.now()))
    return sendPage(reply, 410, <NotSoldPage checkout={checkout} text={text} />)
  }
  return showReview(pages, request, reply, { choice, step, selection, notice })
}

async function showResult(
  pages: StepParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const checkout = checkoutOf(request)
  const result = await readResult(pages, checkout, request.log)
  const account = accountAccessOf(pages, request, completedAtOf(request))
  return sendPage(reply, 200, <ResultPage {...{ checkout, result, account }} />)
}

async function showTopUp(
  pages: StepParts,
  request: FastifyRequest,
  reply: FastifyReply,
  selection: Selection,
  notice: Notice | undefined,
): Promise<FastifyReply> {
  const checkout = checkoutOf(request)
  const { caller } = checkout
  requireCardEntry(pages, checkout)
  const { defaultCurrency } = await requireProvider(pages, caller)
  const { topupCurrencies } = await read(pages, caller, (sql) =>
    findMerchant(sql, caller.providerId),
  )
  const currencies = [...new Set([defaultCurrency, ...topupCurrencies])]
  const { amount = '' } = selection
  const currency = currencies.find((code) => code === selection.currency) ?? defaultCurrency
  const billing = await readBilling(pages, checkout, selection.billing)
  const operation = operationOfCheckout(pages, request)
  const paymentRequest = paymentRequestOf(checkout, { amount, currency })
  const outcome = await priceChoice(pages, operation, paymentRequest, billing.details)
  const priced = outcome.kind === 'priced' ? outcome : undefined
  const shown = { checkout, currencies, typed: { amount, currency }, billing, priced, notice }
  return sendPage(reply, 200, <TopUpPage {...shown} />)
}

/** Returns why a plan cannot be started now, and what the customer can do. `reason` is the reason of the decision. */
function stepRefusalText(
  { frame }: Checkout,
  { held }: Choice,
  plan: Plan,
  reason: string,
  now: Date,
): string {
  const { t, formats } = frame
  if (reason === soldOutReason) return t('checkout:planSoldOut')
  if (reason === freePlanHeldReason) return t('checkout:freePlanHeld')
  const selection = { held, plan, isFirstCharge: false, currency: undefined, at: now }
  const decision = decideChange(selection)
  if (decision.kind !== 'too-early') return t('checkout:notOffered')
  const { from, until } = decision
  const values = { plan: from.planSnapshot?.name ?? from.productName, date: formats.date(until) }
  return from.autoRenew && !isEnding(from)
    ? t('checkout:cancelFirst', values)
    : t('checkout:heldUntil', values)
}
