import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ReactElement } from 'react'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { Plan } from '@tollgate/domain/plans/plan'
import { activatePlan, type ActivateRequest } from '@tollgate/domain/purchases/activate-plan'
import { startTrial } from '@tollgate/domain/purchases/start-trial'
import { completeCheckoutSession } from '@tollgate/domain/sessions/checkout-sessions'
import type { UnitOfWork } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { ApiServer } from '../../http/api-server.ts'
import { commit } from '../../http/commit.ts'
import { requireProvider } from '../../http/require.ts'
import { formFields } from '../form-fields.ts'
import type { PageParts } from '../frame.ts'
import type { Notice } from '../notice.tsx'
import { sendPage } from '../page.tsx'
import { ProblemError, problems } from '../problem.tsx'
import {
  checkoutOf,
  checkoutPath,
  operationOfCheckout,
  requireCheckout,
  type Checkout,
} from './checkout.ts'
import { ChoosePlanPage } from './choose-plan-page.tsx'
import { DonePage } from './done-page.tsx'
import { registerCheckoutOpening } from './open-checkout.ts'
import { readChoice, readStep, type Step } from './read-choice.ts'
import { ActivateForm, ReviewPage, TrialForm } from './review-page.tsx'

const params = z.object({ reference: z.string() })
const schema = { hide: true }
const path = `${checkoutPath}/:reference`

/** Where customers take a plan or buy credits. */
export function registerCheckout(app: ApiServer, pages: PageParts): void {
  registerCheckoutOpening(app, pages)
  void app.register((instance, _options, done) => {
    const checkout = instance.withTypeProvider<ZodTypeProvider>()
    checkout.decorateRequest('checkout', null)
    checkout.addHook('preHandler', async (request) => {
      const { reference } = params.parse(request.params)
      request.checkout = await requireCheckout(pages, request, reference)
    })
    checkout.get(path, { schema }, async (request, reply) => {
      const { plan } = request.query as { readonly plan?: unknown }
      return showStep(pages, request, reply, typeof plan === 'string' ? plan : null)
    })
    registerActivation(checkout, pages)
    done()
  })
}

/** Where the customer is: done, choosing, or looking at what was chosen. */
async function showStep(
  pages: PageParts,
  request: FastifyRequest,
  reply: FastifyReply,
  asked: string | null,
  notice?: Notice,
): Promise<FastifyReply> {
  const checkout = checkoutOf(request)
  const { session, frame, status } = checkout
  if (status === 'used')
    return sendPage(reply, 200, <DonePage checkout={checkout} text={doneText} />)
  if (session.purpose === 'credit_topup') throw new ProblemError(problems.noPayments, frame)
  const choice = await readChoice(pages, checkout)
  if (choice === undefined) throw new ProblemError(problems.notForSale, frame)
  const planRef = session.planRef ?? asked
  const plan = choice.plans.find(({ reference }) => reference === planRef)
  if (planRef === null || plan === undefined) {
    if (session.planRef !== null) throw new ProblemError(problems.notForSale, frame)
    const page = <ChoosePlanPage checkout={checkout} choice={choice} notice={notice} />
    return sendPage(reply, statusWith(notice), page)
  }
  const step = await readStep(pages, checkout, choice, planRef)
  if (step.kind === 'already-active') {
    return sendPage(reply, 200, <DonePage checkout={checkout} text="You have this plan already." />)
  }
  if (step.kind === 'invalid') {
    throw new ProblemError({ ...problems.notForSale, text: `${step.reason}.` }, frame)
  }
  const shown = { checkout, product: choice.product, plan, held: choice.held, notice }
  return sendPage(
    reply,
    statusWith(notice),
    <ReviewPage {...shown}>{formOf(pages, checkout, step)}</ReviewPage>,
  )
}

function statusWith(notice: Notice | undefined): number {
  return notice === undefined ? 200 : 409
}

type Takeable = Exclude<Step, { kind: 'already-active' | 'invalid' }>

/** How the plan is taken. */
function formOf(pages: PageParts, checkout: Checkout, { kind, plan }: Takeable): ReactElement {
  switch (kind) {
    case 'activate':
      return <ActivateForm checkout={checkout} plan={plan} />
    case 'try':
      return <TrialForm checkout={checkout} plan={plan} now={new Date(pages.clock.now())} />
    case 'payment-required':
      throw new ProblemError(problems.noPayments, checkout.frame)
  }
}

const doneText = 'Everything is set up. You can start using it right away.'

function registerActivation(app: ApiServer, pages: PageParts): void {
  app.post(`${path}/activate`, { schema }, (request, reply) =>
    takeUnpaid(pages, request, reply, async (work, asked) => {
      const outcome = await activatePlan(work, asked)
      return outcome.kind === 'activated' ? outcome.plan : undefined
    }),
  )
  app.post(`${path}/trial`, { schema }, (request, reply) =>
    takeUnpaid(pages, request, reply, async (work, asked) => {
      const outcome = await startTrial(work, asked)
      return outcome.kind === 'started' ? outcome.plan : undefined
    }),
  )
}

/** The plan that was taken; undefined where it cannot be. */
type Take = (work: UnitOfWork, asked: ActivateRequest) => Promise<Plan | undefined>

async function takeUnpaid(
  pages: PageParts,
  request: FastifyRequest,
  reply: FastifyReply,
  take: Take,
): Promise<FastifyReply> {
  const checkout = checkoutOf(request)
  const { session, caller, customer, status } = checkout
  const { productRef, sessionId } = session
  if (status === 'used' || productRef === null) return reply.redirect(checkout.path, 303)
  const planRef = session.planRef ?? formFields(request)['plan'] ?? ''
  const { cycleMode } = await requireProvider(pages, caller)
  const asked = { customer, productRef, planRef, cycleMode }
  const isTaken = await commit(pages, operationOfCheckout(pages, request), async (work) => {
    const plan = await take(work, asked)
    if (plan === undefined) return false
    // In the same transaction: a crash leaves neither the purchase nor a checkout that is used up.
    const result = { planRef, amountMinor: 0, currency: plan.currency }
    await completeCheckoutSession(work, pages.hostedUrl, sessionId, result)
    return true
  })
  if (isTaken) return reply.redirect(checkout.path, 303)
  // It is not what it was when the page was shown: the page of now says so.
  return showStep(pages, request, reply, planRef, {
    tone: 'bad',
    text: 'That plan cannot be started like this any more.',
  })
}
