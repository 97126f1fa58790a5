import type { FastifyReply, FastifyRequest } from 'fastify'
import { createPayment, type CreateOutcome } from '@tollgate/domain/charging/create-payment'
import type { PaymentIntent } from '@tollgate/domain/payments/payment-intent'
import { mayCheckoutSell } from '@tollgate/domain/sessions/may-checkout-sell'
import { lookUpEnteredTaxId, taxPayment } from '@tollgate/domain/charging/tax-payment'
import { listCarried } from '@tollgate/domain/invoices/carried-amounts'
import type { PaymentRequest } from '@tollgate/domain/settlement/payment-request'
import { priceRequest } from '@tollgate/domain/settlement/price-request'
import { changeTaxDetails } from '@tollgate/domain/tax/tax-details-repository'
import type { Operation } from '@tollgate/domain/unit-of-work/unit-of-work'
import { soldOutReason } from '@tollgate/domain/purchases/decide-activation'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { read } from '../../access/read.ts'
import { formFields } from '../form-fields.ts'
import { showFormAgain } from '../submitted-form.ts'
import { ProblemError, problems } from '../problem.tsx'
import { selectionOf, selectionFields } from './selection.ts'
import { hasDetails, taxDetailsOfForm, billingFromForm, type BillingForm } from './billing-form.ts'
import { checkoutOf, operationOfCheckout, stepPath, type Checkout } from './checkout.ts'
import { couponFaultText, storeCoupon } from './checkout-coupon.ts'
import { faultOfAmount, paymentRequestOf } from './payment-request.ts'
import { readBilling } from './read-billing.ts'
import { showStep, type StepParts } from './show-step.tsx'
import { minimumTopUpMinor, maximumTopUpMinor } from './top-up-amounts.ts'

export type BeginPaymentParts = StepParts &
  ChangeParts & { readonly hostedUrl: string; readonly limits: { readonly paymentWaitMs: number } }

/**
 * Creates the payment of the chosen plan or credits, with its tax. If that is not possible, redirects back to the choice and shows
 * why.
 */
export async function beginPayment(
  pages: BeginPaymentParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const checkout = checkoutOf(request)
  if (checkout.status === 'used') return reply.redirect(checkout.path, 303)
  if (pages.cardEntries[checkout.caller.environment].kind === 'none') {
    throw new ProblemError(problems.noPayments, checkout.frame)
  }
  const form = formFields(request)
  const showAgain = (text: string | null): FastifyReply => {
    const { plan, currency } = form
    const submitted = { fields: selectionFields(form), text }
    return showFormAgain(pages, reply, checkout, stepPath(checkout, { plan, currency }), submitted)
  }
  // Create no payment, only show the amount: directly in the response to a script, otherwise on the page.
  if (form['step'] === 'update') return showStep(pages, request, reply, selectionOf(form, false))
  if (form['step'] === 'total') return showAgain(null)
  const typed = billingFromForm(form)
  const billing = await readBilling(pages, checkout, { form: typed, isComplete: true })
  const { t } = checkout.frame
  if (billing.invalidField !== undefined) return showAgain(t('checkout:checkBilling'))
  const paymentRequest = paymentRequestOf(checkout, form)
  const fault =
    paymentRequest.purpose === 'credit_topup' ? amountFaultText(checkout, form) : undefined
  if (fault !== undefined) return showAgain(fault)
  const operation = operationOfCheckout(pages, request)
  const { planRef } = paymentRequest
  const isSold =
    planRef === undefined ||
    (await commit(pages, operation, (work) => mayCheckoutSell(work, checkout.session, planRef)))
  if (!isSold) return showAgain(t('checkout:notOffered'))
  await saveDetailsOfUncharged(pages, operation, paymentRequest, typed)
  const outcome = await createOpenPayment(pages, operation, paymentRequest)
  if (outcome.kind === 'refused' && outcome.couponFault !== undefined) {
    // The next attempt pays the price without the coupon, which the page shows.
    await storeCoupon(pages, request, null)
    return showAgain(couponFaultText(outcome.couponFault, checkout.frame))
  }
  if (outcome.kind !== 'created') return showAgain(refusalText(checkout, outcome))
  const { intent } = outcome
  const refused = await applyTax(pages, request, intent, typed)
  if (refused !== undefined) return showAgain(refused)
  return reply.redirect(`${checkout.path}/pay/${intent.reference}`, 303)
}

/** How many payments of one choice a checkout creates, one after another. */
const paymentsMax = 20

/**
 * Creates the payment, or the next one if that of the same choice was withdrawn: a payment of another choice needed the credit that
 * it held, or it has expired.
 */
async function createOpenPayment(
  pages: BeginPaymentParts,
  operation: Operation,
  request: PaymentRequest,
): Promise<CreateOutcome> {
  const { idempotencyKey } = request
  for (let number = 1; ; number += 1) {
    const key = number === 1 ? idempotencyKey : `${idempotencyKey}:${number}`
    const outcome = await createPayment(pages.payments, operation, {
      ...request,
      idempotencyKey: key,
    })
    const isWithdrawn = outcome.kind === 'created' && outcome.intent.status === 'canceled'
    if (!isWithdrawn || number === paymentsMax) return outcome
  }
}

/**
 * Stores the typed tax details before the payment is created if the customer's credit may pay the whole price, or discounts leave
 * nothing of it, because then nothing can be added to the payment.
 */
async function saveDetailsOfUncharged(
  pages: BeginPaymentParts,
  operation: Operation,
  request: PaymentRequest,
  typed: BillingForm,
): Promise<void> {
  if (!hasDetails(typed)) return
  const mayBeUncharged =
    (await hasCredit(pages, operation, request)) || (await isForNothing(pages, operation, request))
  if (!mayBeUncharged) return
  const given = taxDetailsOfForm(typed)
  await lookUpEnteredTaxId(pages.payments, operation, given)
  const { reference } = request.customer
  await commit(pages, operation, (work) => changeTaxDetails(work, reference, given))
}

async function hasCredit(
  pages: BeginPaymentParts,
  operation: Operation,
  { customer, currency }: PaymentRequest,
): Promise<boolean> {
  const carried = await read(pages, operation, (sql) =>
    listCarried(sql, operation.providerId, customer.reference),
  )
  const amounts = currency === undefined ? [...carried.values()] : [carried.get(currency) ?? 0n]
  return amounts.some((amountMinor) => amountMinor < 0n)
}

async function isForNothing(
  { payments }: BeginPaymentParts,
  operation: Operation,
  request: PaymentRequest,
): Promise<boolean> {
  const priced = await priceRequest(payments, operation, request)
  return priced.kind === 'priced' && priced.terms.originalAmountMinor === 0n
}

/**
 * Adds the tax to the payment. Returns why this failed, or undefined if the payment includes the tax. Also returns undefined if the
 * payment is no longer open, because its page then shows its state.
 */
async function applyTax(
  pages: BeginPaymentParts,
  request: FastifyRequest,
  intent: PaymentIntent,
  typed: BillingForm,
): Promise<string | undefined> {
  if (!hasDetails(typed) || intent.status !== 'requires_payment_method') return undefined
  const operation = operationOfCheckout(pages, request)
  const { paymentWaitMs } = pages.limits
  const details = taxDetailsOfForm(typed)
  const taxed = await taxPayment(pages.payments, operation, intent, details, paymentWaitMs)
  switch (taxed.kind) {
    case 'taxed':
    case 'not-open':
      return undefined
    case 'refused':
      return checkoutOf(request).frame.t('checkout:taxRefused')
    case 'unknown':
      throw new ProblemError(problems.unavailable, checkoutOf(request).frame)
  }
}

/** Returns what is wrong with the amount of credits, or undefined if it is valid. */
function amountFaultText(
  { frame }: Checkout,
  { amount, currency = '' }: Readonly<Record<string, string>>,
): string | undefined {
  const { t, formats } = frame
  const code = currency.toUpperCase()
  if (!/^[A-Z]{3}$/.test(code)) return t('checkout:amountUnreadable')
  switch (faultOfAmount(amount, code)) {
    case undefined:
      return undefined
    case 'unreadable':
      return t('checkout:amountUnreadable')
    case 'too-small':
      return t('checkout:amountTooSmall', { amount: formats.money(minimumTopUpMinor(code), code) })
    case 'too-large':
      return t('checkout:amountTooLarge', { amount: formats.money(maximumTopUpMinor, code) })
  }
}

function refusalText(
  { frame: { t } }: Checkout,
  outcome: Exclude<CreateOutcome, { kind: 'created' }>,
): string {
  switch (outcome.kind) {
    case 'refused':
      return outcome.reason === soldOutReason
        ? t('checkout:planSoldOut')
        : t('checkout:cannotBePaid')
    case 'product-not-found':
    case 'plan-not-found':
      return t('checkout:notOffered')
    case 'key-reused':
    case 'unknown':
      throw new ProblemError(problems.unavailable)
  }
}
