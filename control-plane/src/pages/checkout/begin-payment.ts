import type { FastifyReply, FastifyRequest } from 'fastify'
import { createPayment, type CreateOutcome } from '@tollgate/domain/payments/create-payment'
import type { PaymentIntent } from '@tollgate/domain/payments/payment-intent'
import { sellsPlan } from '@tollgate/domain/sessions/sells-plan'
import { taxPayment } from '@tollgate/domain/payments/tax-payment'
import { commit } from '../../http/commit.ts'
import { formFields } from '../form-fields.ts'
import type { PageParts } from '../frame.ts'
import { sendBack } from '../kept-form.ts'
import { ProblemError, problems } from '../problem.tsx'
import { askedOf, choiceFields } from './asked.ts'
import { saysSomething, toldBilling, typedBilling, type BillingForm } from './billing-form.ts'
import { checkoutOf, operationOfCheckout, stepPath } from './checkout.ts'
import { requestOf } from './payment-request-of.ts'
import { readBilling } from './read-billing.ts'
import { showStep } from './show-step.tsx'

/** Makes the payment of what was chosen, with its tax; or leads back to the choice, with what is wrong about it. */
export async function beginPayment(
  pages: PageParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const checkout = checkoutOf(request)
  if (checkout.status === 'used') return reply.redirect(checkout.path, 303)
  if (pages.cardEntries[checkout.caller.environment].kind === 'none') {
    throw new ProblemError(problems.noPayments, checkout.frame)
  }
  const form = formFields(request)
  const back = (text: string | null): FastifyReply => {
    const { plan, currency } = form
    const kept = { fields: choiceFields(form), text }
    return sendBack(pages, reply, checkout, stepPath(checkout, { plan, currency }), kept)
  }
  // Nothing is made: what it would come to is shown, to a script at once and else on the page.
  if (form['step'] === 'update') return showStep(pages, request, reply, askedOf(form, false))
  if (form['step'] === 'total') return back(null)
  const typed = typedBilling(form)
  const billing = await readBilling(pages, checkout, { form: typed, isComplete: true })
  if (billing.wrong !== undefined) return back('Please check your billing details.')
  const wanted = requestOf(checkout, form)
  const operation = operationOfCheckout(pages, request)
  const { planRef } = wanted
  const isSold =
    planRef === undefined ||
    (await commit(pages, operation, (work) => sellsPlan(work, checkout.session, planRef)))
  if (!isSold) return back('That plan is not offered any more.')
  const outcome = await createPayment(pages.payments, operation, wanted)
  if (outcome.kind !== 'created') return back(refusalText(outcome))
  const { intent } = outcome
  const refused = await taxAsTold(pages, request, intent, typed)
  if (refused !== undefined) return back(refused)
  return reply.redirect(`${checkout.path}/pay/${intent.reference}`, 303)
}

/** Why the payment cannot ask for the tax; undefined where it does, or is beyond that: its page tells. */
async function taxAsTold(
  pages: PageParts,
  request: FastifyRequest,
  intent: PaymentIntent,
  typed: BillingForm,
): Promise<string | undefined> {
  if (!saysSomething(typed) || intent.status !== 'requires_payment_method') return undefined
  const operation = operationOfCheckout(pages, request)
  const { paymentWaitMs } = pages.limits
  const told = toldBilling(typed)
  const taxed = await taxPayment(pages.payments, operation, intent, told, paymentWaitMs)
  switch (taxed.kind) {
    case 'taxed':
    case 'not-open':
      return undefined
    case 'refused':
      return `${taxed.reason}.`
    case 'unknown':
      throw new ProblemError(problems.unavailable, checkoutOf(request).frame)
  }
}

function refusalText(outcome: Exclude<CreateOutcome, { kind: 'created' }>): string {
  switch (outcome.kind) {
    case 'refused':
      return `${outcome.reason}.`
    case 'product-not-found':
    case 'plan-not-found':
      return 'That plan is not offered any more.'
    case 'key-reused':
    case 'unknown':
      throw new ProblemError(problems.unavailable)
  }
}
