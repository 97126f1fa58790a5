import type { FastifyRequest } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { ApiServer } from '../../access/api-server.ts'
import { formFields } from '../form-fields.ts'
import { submittedFormOf, refusalNotice, showFormAgain } from '../submitted-form.ts'
import { registerAccountForms, type AccountFormParts } from './account-routes.ts'
import { selectionOf } from './selection.ts'
import { registerCardSaving } from './card-routes.tsx'
import { checkoutOf, checkoutPath, requireCheckout, stepPath, browserCookie } from './checkout.ts'
import { couponFaultText, storeCoupon } from './checkout-coupon.ts'
import { registerCouponForm, type CouponFormParts } from './coupon-routes.ts'
import { registerDebtPayment } from './debt-routes.ts'
import { registerCheckoutOpening } from './open-checkout.ts'
import { registerPaymentPages } from './payment-routes.tsx'
import { showStep } from './show-step.tsx'
import { CouponRefusedError, startCheckoutPlan, type Start } from './start-plan.ts'
import type { BeginPaymentParts } from './begin-payment.ts'
import { claimCheckout } from '@tollgate/domain/sessions/checkout-sessions'
import { digestOf, generateCookieToken } from '@tollgate/domain/sessions/hosted-pages'
import type { ReadParts } from '../../access/read.ts'

export type CheckoutPagesParts = BeginPaymentParts & AccountFormParts & CouponFormParts

const params = z.object({ reference: z.string() })
const schema = { hide: true }
const path = `${checkoutPath}/:reference`

/** Registers the pages on which customers take a plan or buy credits. */
export function registerCheckout(app: ApiServer, pages: CheckoutPagesParts): void {
  registerCheckoutOpening(app, pages)
  void app.register((instance, _options, done) => {
    const checkout = instance.withTypeProvider<ZodTypeProvider>()
    checkout.decorateRequest('checkout', null)
    checkout.addHook('preHandler', async (request) => {
      const { reference } = params.parse(request.params)
      request.checkout = await requireCheckout(pages, request, reference)
      await recordBrowser(pages, request)
    })
    checkout.get(path, { schema }, async (request, reply) => {
      const submitted = submittedFormOf(request, checkoutOf(request))
      const isSent = submitted !== undefined && submitted.text !== null
      const selection = selectionOf(submitted?.fields ?? queryFields(request), isSent)
      return showStep(pages, request, reply, selection, refusalNotice(submitted))
    })
    registerActivation(checkout, pages)
    registerCardSaving(checkout, pages)
    registerPaymentPages(checkout, pages)
    registerCouponForm(checkout, pages)
    registerDebtPayment(checkout, pages)
    registerAccountForms(checkout, pages)
    done()
  })
}

/** Returns the choices in the query of a link. */
function queryFields({ query }: FastifyRequest): Readonly<Record<string, string>> {
  const { plan, amount, currency } = query as Readonly<Record<string, unknown>>
  return {
    ...(typeof plan === 'string' && { plan }),
    ...(typeof amount === 'string' && { amount: amount.slice(0, 12) }),
    ...(typeof currency === 'string' && { currency }),
  }
}

function registerActivation(app: ApiServer, pages: BeginPaymentParts): void {
  const config = { completesCheckout: true }
  for (const start of ['activate', 'trial', 'discounted'] as const) {
    app.post(`${path}/${start}`, { schema, config }, async (request, reply) => {
      const checkout = checkoutOf(request)
      const { plan: planRef = '' } = formFields(request)
      const refused = await startOrRefuse(pages, request, planRef, start)
      if (refused === undefined) return reply.redirect(checkout.path, 303)
      return showFormAgain(pages, reply, checkout, stepPath(checkout, { plan: planRef }), {
        fields: { plan: planRef },
        text: refused,
      })
    })
  }
}

/** Starts the plan. Returns why it did not start: the page is then shown again in its current state. */
async function startOrRefuse(
  pages: BeginPaymentParts,
  request: FastifyRequest,
  planRef: string,
  start: Start,
): Promise<string | undefined> {
  const { frame } = checkoutOf(request)
  try {
    const isStarted = await startCheckoutPlan(pages, request, planRef, start)
    return isStarted ? undefined : frame.t('checkout:startChanged')
  } catch (error) {
    if (!(error instanceof CouponRefusedError)) throw error
    await storeCoupon(pages, request, null)
    return couponFaultText(error.fault, frame)
  }
}

/** Records which browser sends a form that may complete the checkout. A form that only updates the total does not count. */
async function recordBrowser(pages: ReadParts, request: FastifyRequest): Promise<void> {
  const { completesCheckout = false } = request.routeOptions.config
  const isUpdate = formFields(request)['step'] !== undefined
  if (request.method !== 'POST' || !completesCheckout || isUpdate) return
  const { caller, session, status } = checkoutOf(request)
  // A browser that sends no cookie counts as a new browser.
  const browserSha256 = digestOf(
    request.cookies[browserCookie(session.reference)] ?? generateCookieToken(),
  )
  if (status === 'used' || session.browserSha256 === browserSha256) return
  const { providerId, environment } = caller
  await pages.database
    .of(providerId)
    .in(environment)
    .write((sql) => claimCheckout(sql, providerId, session.sessionId, browserSha256))
}
