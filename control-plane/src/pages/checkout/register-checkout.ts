import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { Plan } from '@tollgate/domain/plans/plan'
import { activatePlan, type SoldRequest } from '@tollgate/domain/purchases/activate-plan'
import { startTrial } from '@tollgate/domain/purchases/start-trial'
import { completeCheckoutSession } from '@tollgate/domain/sessions/checkout-sessions'
import type { UnitOfWork } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { ApiServer } from '../../http/api-server.ts'
import { commit } from '../../http/commit.ts'
import { requireProvider } from '../../http/require.ts'
import { formFields } from '../form-fields.ts'
import type { PageParts } from '../frame.ts'
import { keptFormOf, noticeOf, sendBack } from '../kept-form.ts'
import { askedOf } from './asked.ts'
import {
  checkoutOf,
  checkoutPath,
  operationOfCheckout,
  requireCheckout,
  stepPath,
} from './checkout.ts'
import { registerCheckoutOpening } from './open-checkout.ts'
import { registerPaymentPages } from './payment-routes.tsx'
import { showStep } from './show-step.tsx'

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
      const kept = keptFormOf(request, checkoutOf(request))
      const isSent = kept !== undefined && kept.text !== null
      const asked = askedOf(kept?.fields ?? queryFields(request), isSent)
      return showStep(pages, request, reply, asked, noticeOf(kept))
    })
    registerActivation(checkout, pages)
    registerPaymentPages(checkout, pages)
    done()
  })
}

/** What a link on a page has chosen. */
function queryFields({ query }: FastifyRequest): Readonly<Record<string, string>> {
  const { plan, currency } = query as Readonly<Record<string, unknown>>
  return {
    ...(typeof plan === 'string' && { plan }),
    ...(typeof currency === 'string' && { currency }),
  }
}

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
type Take = (work: UnitOfWork, asked: SoldRequest) => Promise<Plan | undefined>

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
  const { cycleMode, name } = await requireProvider(pages, caller)
  const asked = { customer, productRef, planRef, cycleMode, seller: { name } }
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
  const text = 'That plan cannot be started like this any more.'
  return sendBack(pages, reply, checkout, stepPath(checkout, { plan: planRef }), {
    fields: { plan: planRef },
    text,
  })
}
