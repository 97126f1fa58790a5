import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ReactElement } from 'react'
import { findMerchant } from '@tollgate/domain/merchants/repository'
import { currenciesOf } from '@tollgate/domain/pricing/plan-prices'
import { read } from '../../http/read.ts'
import { requireProvider } from '../../http/require.ts'
import { requireCardEntry } from '../card-setup.ts'
import type { PageParts } from '../frame.ts'
import type { Notice } from '../notice.tsx'
import { sendPage } from '../page.tsx'
import { ProblemError, problems } from '../problem.tsx'
import type { Asked } from './asked.ts'
import { checkoutOf, operationOfCheckout, type Checkout } from './checkout.ts'
import { ChoosePlanPage } from './choose-plan-page.tsx'
import { DebtsPage } from './debts-page.tsx'
import { DonePage } from './done-page.tsx'
import { PayForm } from './pay-form.tsx'
import { priceChoice, readBilling } from './read-billing.ts'
import { changeWords, scheduleWords } from '../../purchases/change-words.ts'
import { readChoice, readStep, type Step } from './read-choice.ts'
import { readDebts } from './read-debts.ts'
import { requestOf } from './payment-request-of.ts'
import { ReviewPage } from './review-page.tsx'
import { ActivateForm, SaveCardForm, TrialForm, trialWords } from './start-forms.tsx'
import { TopUpPage } from './top-up-page.tsx'

/** Where the customer is: done, choosing, or looking at what was chosen. */
export async function showStep(
  pages: PageParts,
  request: FastifyRequest,
  reply: FastifyReply,
  asked: Asked,
  notice?: Notice,
): Promise<FastifyReply> {
  const checkout = checkoutOf(request)
  const { session, frame, status } = checkout
  if (status === 'used')
    return sendPage(reply, 200, <DonePage checkout={checkout} text={doneText} />)
  if (session.purpose === 'credit_topup') return showTopUp(pages, request, reply, asked, notice)
  const invoices = await readDebts(pages, checkout)
  if (invoices.length > 0) return sendPage(reply, 200, DebtsPage({ checkout, invoices, notice }))
  const choice = await readChoice(pages, checkout)
  if (choice === undefined) throw new ProblemError(problems.notForSale, frame)
  const planRef = session.planRef ?? asked.planRef
  const plan = choice.plans.find(({ reference }) => reference === planRef)
  if (planRef === undefined || plan === undefined) {
    if (session.planRef !== null) throw new ProblemError(problems.notForSale, frame)
    const page = <ChoosePlanPage checkout={checkout} choice={choice} notice={notice} />
    return sendPage(reply, 200, page)
  }
  const step = await readStep(pages, checkout, choice, planRef)
  if (step.kind === 'already-active') {
    return sendPage(reply, 200, <DonePage checkout={checkout} text="You have this plan already." />)
  }
  if (step.kind === 'invalid') {
    throw new ProblemError(problems.notForSale, frame)
  }
  const { product, held } = choice
  const start = step.kind === 'card-required' ? step.start : step
  const startsAt = start.kind === 'schedule' ? start.change.at : undefined
  const shown = { checkout, product, plan, isTriable: step.kind === 'try', held, startsAt, notice }
  const form = await formOf(pages, request, step, asked)
  return sendPage(reply, 200, <ReviewPage {...shown}>{form}</ReviewPage>)
}

type Takeable = Exclude<Step, { kind: 'already-active' | 'invalid' }>

/** How the plan is taken. */
async function formOf(
  pages: PageParts,
  request: FastifyRequest,
  step: Takeable,
  asked: Asked,
): Promise<ReactElement> {
  const checkout = checkoutOf(request)
  const { plan } = step
  switch (step.kind) {
    case 'activate':
    case 'schedule':
      return <ActivateForm checkout={checkout} plan={plan} words={startWords(checkout, step)} />
    case 'card-required': {
      requireCardEntry(pages, checkout)
      const words = startWords(checkout, step.start)
      return <SaveCardForm {...{ checkout, plan }} start="activate" words={words} />
    }
    case 'try': {
      const now = new Date(pages.clock.now())
      if (!step.needsCard) return <TrialForm checkout={checkout} plan={plan} now={now} />
      requireCardEntry(pages, checkout)
      const words = trialWords(checkout, plan, now)
      return <SaveCardForm {...{ checkout, plan }} start="trial" words={words} />
    }
    case 'payment-required': {
      requireCardEntry(pages, checkout)
      const currency = currenciesOf(plan).find((code) => code === asked.currency) ?? plan.currency
      const billing = await readBilling(pages, checkout, asked.billing)
      const wanted = requestOf(checkout, { plan: plan.reference, currency })
      const operation = operationOfCheckout(pages, request)
      const priced = await priceChoice(pages, operation, wanted, billing.details)
      if (priced.kind === 'refused') {
        const problem = { ...problems.notForSale, text: `${priced.reason}.` }
        throw new ProblemError(problem, checkout.frame)
      }
      return <PayForm {...{ checkout, plan, isFirstCharge: step.isFirstCharge, billing, priced }} />
    }
  }
}

/** Says what a change of plan charges or credits, and when. Returns undefined where no plan is changed. */
function startWords(
  { frame }: Checkout,
  start: Extract<Step, { kind: 'activate' | 'schedule' }>,
): string | undefined {
  return start.kind === 'activate'
    ? changeWords(start.change)
    : scheduleWords(start.plan.name, start.change.from, start.change.at, frame.formats.date)
}

async function showTopUp(
  pages: PageParts,
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
  const { amount = '', currency = defaultCurrency } = asked
  const billing = await readBilling(pages, checkout, asked.billing)
  const operation = operationOfCheckout(pages, request)
  const wanted = requestOf(checkout, { amount, currency })
  const outcome = await priceChoice(pages, operation, wanted, billing.details)
  const priced = outcome.kind === 'priced' ? outcome : undefined
  const shown = { checkout, currencies, typed: { amount, currency }, billing, priced, notice }
  return sendPage(reply, 200, <TopUpPage {...shown} />)
}

const doneText = 'Everything is set up. You can start using it right away.'
