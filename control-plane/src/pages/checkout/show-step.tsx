import type { FastifyReply, FastifyRequest } from 'fastify'
import { findMerchant } from '@tollgate/domain/merchants/repository'
import { read } from '../../access/read.ts'
import { requireProvider } from '../../access/require.ts'
import { requireCardEntry } from '../card-setup.ts'
import type { Notice } from '../notice.tsx'
import { sendPage } from '../page.tsx'
import { ProblemError, problems } from '../problem.tsx'
import { completedAtOf, wayToAccount } from './account-routes.ts'
import { AlreadyActivePage } from './already-active-page.tsx'
import type { Asked } from './asked.ts'
import { checkoutOf, operationOfCheckout, type Checkout } from './checkout.ts'
import { ChoosePlanPage } from './choose-plan-page.tsx'
import { DebtsPage } from './debts-page.tsx'
import { DonePage } from './done-page.tsx'
import { nextChargeOfPurchase } from './next-charge.ts'
import { NotSoldPage } from './not-sold-page.tsx'
import { priceChoice, readBilling } from './read-billing.ts'
import { readChoice, readStep, type Choice } from './read-choice.ts'
import { readDebts } from './read-debts.ts'
import { readDone, type DoneParts } from './read-done.ts'
import { requestOf } from './payment-request-of.ts'
import { showReview, type ReviewParts } from './show-review.tsx'
import { taxedCharge } from './taxed-charge.ts'
import { TopUpPage } from './top-up-page.tsx'
import type { Plan } from '@tollgate/domain/plans/plan'
import { heldAlready, soldOut } from '@tollgate/domain/purchases/decide-activation'
import { decideChange } from '@tollgate/domain/purchases/decide-switch'
import { isEnding } from '@tollgate/domain/purchases/transitions'

export type StepParts = ReviewParts & DoneParts & { readonly basePath: string }

/** Shows the page of the customer's current step: the completed checkout, the choice of plans, or the review of the chosen plan. */
export async function showStep(
  pages: StepParts,
  request: FastifyRequest,
  reply: FastifyReply,
  asked: Asked,
  notice?: Notice,
): Promise<FastifyReply> {
  const checkout = checkoutOf(request)
  const { session, frame, status } = checkout
  if (status === 'used') return showDone(pages, request, reply)
  if (session.purpose === 'credit_topup') return showTopUp(pages, request, reply, asked, notice)
  const invoices = await readDebts(pages, checkout)
  if (invoices.length > 0) return sendPage(reply, 200, DebtsPage({ checkout, invoices, notice }))
  const choice = await readChoice(pages, checkout)
  if (choice === undefined) throw new ProblemError(problems.notForSale, frame)
  const planRef = session.planRef ?? asked.planRef
  const plan = choice.plans.find(({ reference }) => reference === planRef)
  if (planRef === undefined || plan === undefined) {
    if (session.planRef !== null) throw new ProblemError(problems.notForSale, frame)
    const { currency } = asked
    return sendPage(reply, 200, <ChoosePlanPage {...{ checkout, choice, currency, notice }} />)
  }
  const step = await readStep(pages, checkout, choice, planRef)
  if (step.kind === 'already-active') {
    const account = wayToAccount(pages, request, undefined)
    const { purchase } = step
    const next = await taxedCharge(pages, checkout, nextChargeOfPurchase(purchase))
    return sendPage(reply, 200, <AlreadyActivePage {...{ checkout, purchase, next, account }} />)
  }
  if (step.kind === 'invalid') {
    const text = refusedStepText(checkout, choice, plan, step.reason, new Date(pages.clock.now()))
    return sendPage(reply, 410, <NotSoldPage checkout={checkout} text={text} />)
  }
  return showReview(pages, request, reply, { choice, step, asked, notice })
}

async function showDone(
  pages: StepParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const checkout = checkoutOf(request)
  const done = await readDone(pages, checkout, request.log)
  const account = wayToAccount(pages, request, completedAtOf(request))
  return sendPage(reply, 200, <DonePage {...{ checkout, done, account }} />)
}

async function showTopUp(
  pages: StepParts,
  request: FastifyRequest,
  reply: FastifyReply,
  asked: Asked,
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
  const { amount = '' } = asked
  const currency = currencies.find((code) => code === asked.currency) ?? defaultCurrency
  const billing = await readBilling(pages, checkout, asked.billing)
  const operation = operationOfCheckout(pages, request)
  const wanted = requestOf(checkout, { amount, currency })
  const outcome = await priceChoice(pages, operation, wanted, billing.details)
  const priced = outcome.kind === 'priced' ? outcome : undefined
  const shown = { checkout, currencies, typed: { amount, currency }, billing, priced, notice }
  return sendPage(reply, 200, <TopUpPage {...shown} />)
}

/** Returns why a plan cannot be started now, and what the customer can do. `reason` is the reason of the decision. */
function refusedStepText(
  { frame }: Checkout,
  { held }: Choice,
  plan: Plan,
  reason: string,
  now: Date,
): string {
  const { t, formats } = frame
  if (reason === soldOut) return t('checkout:planSoldOut')
  if (reason === heldAlready) return t('checkout:freePlanHeld')
  const asked = { held, plan, isFirstCharge: false, currency: undefined, at: now }
  const decision = decideChange(asked)
  if (decision.kind !== 'too-early') return t('checkout:notOffered')
  const { from, until } = decision
  const values = { plan: from.planSnapshot?.name ?? from.productName, date: formats.date(until) }
  return from.autoRenew && !isEnding(from)
    ? t('checkout:cancelFirst', values)
    : t('checkout:heldUntil', values)
}
