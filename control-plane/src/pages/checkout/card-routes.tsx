import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { setUpCard } from '@tollgate/domain/settlement/set-up-card'
import { requiredReference } from '@tollgate/schemas/http/fields'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { ApiServer } from '../../access/api-server.ts'
import {
  readOpenSetup,
  requireAttemptId,
  requireCardEntry,
  sendCardForm,
  finishSetup,
  setupNotice,
  type CardSetupParts,
} from '../card-setup.ts'
import { formFields } from '../form-fields.ts'
import { checkoutOf, checkoutPath, operationOfCheckout, stepPath } from './checkout.ts'
import { SaveCardPage } from './save-card-page.tsx'
import { readChoice, readStep, type Step } from './read-choice.ts'
import { readDebts } from './read-debts.ts'
import { CouponRefusedError, startAfterCard, startCheckoutPlan, type Start } from './start-plan.ts'
import type { ReadParts } from '../../access/read.ts'
import type { ChangeParts } from '../../access/commit.ts'

type Parts = CardSetupParts & ChangeParts & { readonly hostedUrl: string }

const startSchema = z.enum(['activate', 'trial', 'discounted'])
const params = z.object({
  reference: z.string(),
  setupIntentId: requiredReference,
  start: startSchema,
  planRef: requiredReference,
})
const path = `${checkoutPath}/:reference/card`
const setupPath = `${path}/:setupIntentId/:start/:planRef`

/**
 * Saves a card on a checkout and starts the plan that requires one. The card is saved first, and the plan starts in a separate
 * transaction. After a crash in between, the checkout offers to start the plan, because the card is saved.
 */
export function registerCardSaving(app: ApiServer, pages: Parts): void {
  const config = { completesCheckout: true }
  app.post(path, { schema: { hide: true }, config }, (request, reply) =>
    beginSetup(pages, request, reply),
  )

  app.get(setupPath, { schema: { hide: true, params } }, (request, reply) =>
    showSetupForm(pages, request, reply, request.params),
  )

  app.get(
    `${setupPath}/done`,
    { schema: { hide: true, params }, config: { servesExpired: true } },
    async (request, reply) => {
      const checkout = checkoutOf(request)
      const { setupIntentId, start, planRef } = request.params
      const planPage = stepPath(checkout, { plan: planRef })
      const finished = await finishSetup(pages, checkout, setupIntentId, {
        entry: `${checkout.path}${setupFormPath(setupIntentId, start, planRef)}`,
        ended: planPage,
      })
      if (finished !== 'saved') return reply.redirect(finished.continuePath, 303)
      const isStarted = await startWithCoupon(pages, request, planRef, start)
      // The page of the plan shows what has changed meanwhile.
      return reply.redirect(isStarted ? checkout.path : planPage, 303)
    },
  )
}

/** Returns false if the plan does not start, also because its coupon cannot be redeemed any more. */
async function startWithCoupon(
  pages: Parts,
  request: FastifyRequest,
  planRef: string,
  start: Start,
): Promise<boolean> {
  try {
    return await startCheckoutPlan(pages, request, planRef, start)
  } catch (error) {
    if (error instanceof CouponRefusedError) return false
    throw error
  }
}

async function beginSetup(
  pages: Parts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const checkout = checkoutOf(request)
  requireCardEntry(pages, checkout)
  const attempt = requireAttemptId(request, checkout)
  const { plan = '', start } = formFields(request)
  const planRef = checkout.session.planRef ?? plan
  // A checkout saves a card only if one of its plans requires one, so that a person with the link cannot replace the saved card.
  const step = await readOpenStep(pages, request, planRef)
  const expectedStart = step === undefined ? undefined : startAfterCard(step)
  if (expectedStart === undefined || expectedStart !== start) {
    return reply.redirect(stepPath(checkout, { plan: planRef }), 303)
  }
  const operation = operationOfCheckout(pages, request)
  const { setupIntentId } = await setUpCard(pages.payments, operation, checkout.customer, attempt)
  return reply.redirect(
    `${checkout.path}${setupFormPath(setupIntentId, expectedStart, planRef)}`,
    303,
  )
}

async function readOpenStep(
  pages: ReadParts & { readonly clock: Clock },
  request: FastifyRequest,
  planRef: string,
): Promise<Step | undefined> {
  const checkout = checkoutOf(request)
  const { session, status } = checkout
  if (status === 'used' || session.purpose !== 'product') return undefined
  if ((await readDebts(pages, checkout)).length > 0) return undefined
  const choice = await readChoice(pages, checkout)
  return choice === undefined ? undefined : readStep(pages, checkout, choice, planRef)
}

async function showSetupForm(
  pages: Parts,
  request: FastifyRequest,
  reply: FastifyReply,
  { setupIntentId, start, planRef }: Omit<z.infer<typeof params>, 'reference'>,
): Promise<FastifyReply> {
  const checkout = checkoutOf(request)
  const ownPath = `${checkoutPath}/${checkout.session.reference}`
  const returnUrl = `${pages.hostedUrl}${ownPath}${setupFormPath(setupIntentId, start, planRef)}/done`
  const setup = await readOpenSetup(pages, checkout, setupIntentId, returnUrl)
  const back = stepPath(checkout, { plan: planRef })
  if (setup === undefined) return reply.redirect(back, 303)
  const notice = setupNotice(request, checkout.frame)
  return sendCardForm(reply, setup, SaveCardPage({ checkout, setup, back, notice }))
}

function setupFormPath(setupIntentId: string, start: Start, planRef: string): string {
  return `/card/${setupIntentId}/${start}/${encodeURIComponent(planRef)}`
}
