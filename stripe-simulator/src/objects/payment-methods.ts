import { createHash } from 'node:crypto'
import { invalid, missing, StripeApiError } from '../errors.ts'
import { newId, type UnitOfWork } from '../store/unit-of-work.ts'
import { requireCustomer } from './customers.ts'
import { emit } from './event-log.ts'
import type { PaymentMethod } from '../store/records.ts'
import { findTestCard, numberOfToken, testCard, type CardError } from './test-cards.ts'

export type NewCard = {
  readonly number: string
  readonly exp_month: number
  readonly exp_year: number
  readonly cvc?: string | undefined
}

type Person = { readonly name?: string | undefined; readonly email?: string | undefined }

export function createPaymentMethod(
  work: UnitOfWork,
  card: NewCard,
  person: Person = {},
): PaymentMethod {
  const number = card.number.replaceAll(/[\s-]/g, '')
  const found = findTestCard(number)
  if (found === undefined) {
    throw cardError({
      code: 'incorrect_number',
      message: 'Your card number is incorrect. The simulator takes test cards only.',
    })
  }
  const now = new Date(work.nowMs)
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth() + 1]
  if (card.exp_month < 1 || card.exp_month > 12) {
    throw cardError({
      code: 'invalid_expiry_month',
      message: "Your card's expiration month is invalid.",
    })
  }
  if (card.exp_year < year || (card.exp_year === year && card.exp_month < month)) {
    throw cardError({
      code: 'invalid_expiry_year',
      message: "Your card's expiration year is invalid.",
    })
  }
  const method: PaymentMethod = {
    id: newId('pm_'),
    object: 'payment_method',
    billing_details: {
      address: null,
      email: person.email ?? null,
      name: person.name ?? null,
      phone: null,
      tax_id: null,
    },
    card: {
      brand: found.brand,
      checks: null,
      country: 'US',
      display_brand: found.brand,
      exp_month: card.exp_month,
      exp_year: card.exp_year,
      fingerprint: createHash('sha256').update(number).digest('hex').slice(0, 16),
      funding: 'credit',
      generated_from: null,
      last4: number.slice(-4),
      networks: null,
      regulated_status: 'unregulated',
      three_d_secure_usage: { supported: true },
      wallet: null,
    },
    created: work.now,
    customer: null,
    livemode: work.mode === 'live',
    metadata: {},
    type: 'card',
    simulator: { number, isSetUp: found.authentication === 'on_session', isUsedUp: false },
  }
  work.add('payment_method', method)
  return method
}

/** Returns a payment method by id, or creates one if the id is a token of a test card. */
export function requirePaymentMethod(work: UnitOfWork, id: string, param?: string): PaymentMethod {
  const number = numberOfToken(id)
  if (number === undefined) {
    const found = work.find('payment_method', id)
    if (found === undefined) throw missing('PaymentMethod', id, param)
    return found
  }
  const year = new Date(work.nowMs).getUTCFullYear() + 8
  return createPaymentMethod(work, { number, exp_month: 12, exp_year: year })
}

export function attachPaymentMethod(work: UnitOfWork, id: string, customer: string): PaymentMethod {
  requireCustomer(work, customer, 'customer')
  const method = requirePaymentMethod(work, id)
  if (method.customer === customer) return method
  if (method.customer !== null) {
    throw invalid('The payment method you provided has already been attached to a customer.', {
      code: 'payment_method_unexpected_state',
    })
  }
  if (method.simulator.isUsedUp) throw alreadyUsed()
  const { attachError } = testCard(method.simulator.number)
  if (attachError !== undefined) throw cardError(attachError)
  return attachTo(work, method, customer)
}

/** Attaches a payment method to a customer and adds it to the customer's list. */
export function attachTo(work: UnitOfWork, method: PaymentMethod, customer: string): PaymentMethod {
  const attached: PaymentMethod = { ...method, customer }
  work.put('payment_method', attached)
  work.addToList('payment_method', method.id, customer)
  emit(work, 'payment_method.attached', attached)
  return attached
}

export function detachPaymentMethod(work: UnitOfWork, id: string): PaymentMethod {
  const method = requirePaymentMethod(work, id)
  if (method.customer === null) {
    throw invalid('The payment method you provided is not attached to a customer.', {
      code: 'payment_method_unexpected_state',
    })
  }
  const customer = work.find('customer', method.customer)
  if (customer?.invoice_settings.default_payment_method === id) {
    const settings = { ...customer.invoice_settings, default_payment_method: null }
    work.put('customer', { ...customer, invoice_settings: settings })
  }
  const detached: PaymentMethod = {
    ...method,
    customer: null,
    simulator: { ...method.simulator, isUsedUp: true },
  }
  work.put('payment_method', detached)
  emit(work, 'payment_method.detached', detached, { customer: method.customer })
  return detached
}

/** Returns a payment method for a payment or setup of this customer. It must belong to this customer or to none. */
export function requireUsable(
  work: UnitOfWork,
  id: string,
  customer: string | null,
): PaymentMethod {
  const method = requirePaymentMethod(work, id, 'payment_method')
  if (method.customer !== null && method.customer !== customer) {
    throw invalid(
      'The PaymentMethod belongs to a Customer: give that customer, and no other, on the intent.',
      { code: 'payment_intent_invalid_parameter', param: 'payment_method' },
    )
  }
  if (method.customer === null && method.simulator.isUsedUp) throw alreadyUsed()
  return method
}

function cardError(error: CardError): StripeApiError {
  return new StripeApiError(402, { type: 'card_error', ...error })
}

function alreadyUsed(): StripeApiError {
  return invalid(
    'The PaymentMethod was used without a Customer, or was detached from one, and may not be used again.',
    { code: 'payment_method_unexpected_state', param: 'payment_method' },
  )
}
