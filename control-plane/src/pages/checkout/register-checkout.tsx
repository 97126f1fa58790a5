import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { activatePlan } from '@tollgate/domain/purchases/activate-plan'
import { completeCheckoutSession } from '@tollgate/domain/sessions/checkout-sessions'
import type { ApiServer } from '../../http/api-server.ts'
import { commit } from '../../http/commit.ts'
import { requireProvider } from '../../http/require.ts'
import { formFields } from '../form-fields.ts'
import type { PageParts } from '../frame.ts'
import type { Notice } from '../notice.tsx'
import { sendPage } from '../page.tsx'
import { ProblemError, problems } from '../problem.tsx'
import { checkoutOf, checkoutPath, operationOfCheckout, requireCheckout } from './checkout.ts'
import { ChoosePlanPage } from './choose-plan-page.tsx'
import { DonePage } from './done-page.tsx'
import { registerCheckoutOpening } from './open-checkout.ts'
import { readChoice, readDecision } from './read-choice.ts'
import { ActivateForm, ReviewPage } from './review-page.tsx'

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
    return sendPage(reply, 200, <ChoosePlanPage checkout={checkout} choice={choice} />)
  }
  const decision = await readDecision(pages, checkout, choice, planRef)
  const shown = { checkout, product: choice.product, plan }
  switch (decision.kind) {
    case 'already-active':
      return sendPage(
        reply,
        200,
        <DonePage checkout={checkout} text="You have this plan already." />,
      )
    case 'invalid':
      throw new ProblemError({ ...problems.notForSale, text: `${decision.reason}.` }, frame)
    case 'activate':
      return sendPage(
        reply,
        notice === undefined ? 200 : 409,
        <ReviewPage {...shown} held={choice.held} notice={notice}>
          <ActivateForm checkout={checkout} plan={plan} />
        </ReviewPage>,
      )
    case 'payment-required':
      throw new ProblemError(problems.noPayments, frame)
  }
}

const doneText = 'Everything is set up. You can start using it right away.'

function registerActivation(app: ApiServer, pages: PageParts): void {
  app.post(`${path}/activate`, { schema }, async (request, reply) => {
    const checkout = checkoutOf(request)
    const { session, caller, customer, status } = checkout
    if (status === 'used') return reply.redirect(checkout.path, 303)
    const planRef = session.planRef ?? formFields(request)['plan'] ?? ''
    const { productRef, sessionId } = session
    if (productRef === null) return reply.redirect(checkout.path, 303)
    const { cycleMode } = await requireProvider(pages, caller)
    const asked = { customer, productRef, planRef, cycleMode }
    const outcome = await commit(pages, operationOfCheckout(pages, request), async (work) => {
      const activated = await activatePlan(work, asked)
      if (activated.kind !== 'activated') return activated
      const { currency } = activated.plan
      // In the same transaction: a crash leaves neither the purchase nor a checkout that is used up.
      const result = { planRef, amountMinor: 0, currency }
      await completeCheckoutSession(work, pages.hostedUrl, sessionId, result)
      return activated
    })
    if (outcome.kind === 'activated') return reply.redirect(checkout.path, 303)
    // It is not what it was when the page was shown: the page of now says so.
    return showStep(pages, request, reply, planRef, {
      tone: 'bad',
      text: 'That plan cannot be started like this any more.',
    })
  })
}
