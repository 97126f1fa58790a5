import { invalid } from '../errors.ts'
import { ok, type Answer } from '../answer.ts'
import { newId, type UnitOfWork } from '../store/unit-of-work.ts'
import { requireChargeable } from './amounts.ts'
import { chargeCard, endCharge } from './charges.ts'
import { requireCustomer } from './customers.ts'
import { emit } from './event-log.ts'
import {
  requiresAuthentication,
  authenticationRequired,
  failed,
  lastError,
  unexpectedState,
  type Confirmation,
} from './intents.ts'
import { changedMetadata, type MetadataChange } from './metadata.ts'
import { attachTo, requireUsable } from './payment-methods.ts'
import { presentIntent } from './present.ts'
import type { PaymentIntent, PaymentMethod } from '../store/records.ts'
import { testCard, type CardError } from './test-cards.ts'

/** Seconds of the simulated clock that a slow payment takes. */
const processingSeconds = 5

export type NewPaymentIntent = Confirmation & {
  readonly amount: number
  readonly currency: string
  readonly customer?: string | undefined
  readonly description?: string | undefined
  readonly metadata?: MetadataChange | undefined
  readonly setup_future_usage?: 'off_session' | 'on_session' | undefined
  readonly confirm?: boolean | undefined
}

export function createPaymentIntent(work: UnitOfWork, parameters: NewPaymentIntent): Answer {
  requireChargeable(parameters.amount, parameters.currency)
  const customer =
    parameters.customer === undefined
      ? null
      : requireCustomer(work, parameters.customer, 'customer').id
  if (parameters.off_session === true && parameters.confirm !== true) {
    throw invalid('You cannot set off_session without setting confirm to true.', {
      param: 'off_session',
    })
  }
  const method =
    parameters.payment_method === undefined
      ? undefined
      : requireUsable(work, parameters.payment_method, customer)
  const id = newId('pi_')
  const intent: PaymentIntent = {
    id,
    object: 'payment_intent',
    amount: parameters.amount,
    amount_capturable: 0,
    amount_received: 0,
    canceled_at: null,
    cancellation_reason: null,
    capture_method: 'automatic_async',
    client_secret: `${id}_${newId('secret_')}`,
    confirmation_method: 'automatic',
    created: work.now,
    currency: parameters.currency,
    customer,
    description: parameters.description ?? null,
    last_payment_error: null,
    latest_charge: null,
    livemode: work.mode === 'live',
    metadata: changedMetadata({}, parameters.metadata),
    payment_method: method?.id ?? null,
    payment_method_types: ['card'],
    setup_future_usage: parameters.setup_future_usage ?? null,
    status: method === undefined ? 'requires_payment_method' : 'requires_confirmation',
    simulator: { returnUrl: null },
  }
  work.add('payment_intent', intent, customer === null ? [] : [customer])
  emit(work, 'payment_intent.created', intent)
  if (parameters.confirm !== true) return ok(presentIntent(intent))
  // The token has already created a payment method, so that method is confirmed.
  return confirmPaymentIntent(work, id, { ...parameters, payment_method: method?.id })
}

export function updatePaymentIntent(
  work: UnitOfWork,
  id: string,
  change: {
    readonly amount?: number | undefined
    readonly description?: string | undefined
    readonly metadata?: MetadataChange | undefined
  },
): Answer {
  const intent = work.require('payment_intent', id)
  const { amount = intent.amount } = change
  if (amount !== intent.amount) {
    if (!isOpen(intent)) throw unexpectedState(intent, 'update the amount of')
    requireChargeable(amount, intent.currency)
  }
  const changed: PaymentIntent = {
    ...intent,
    amount,
    ...(change.description !== undefined && { description: change.description || null }),
    metadata: changedMetadata(intent.metadata, change.metadata),
  }
  work.put('payment_intent', changed)
  return ok(presentIntent(changed))
}

export function confirmPaymentIntent(
  work: UnitOfWork,
  id: string,
  parameters: Confirmation,
): Answer {
  const intent = work.require('payment_intent', id)
  if (!isOpen(intent) && intent.status !== 'requires_action') {
    throw unexpectedState(intent, 'confirm')
  }
  const methodId = parameters.payment_method ?? intent.payment_method
  if (methodId === null) {
    throw invalid("You cannot confirm this PaymentIntent because it's missing a payment method.", {
      code: 'payment_intent_unexpected_state',
      payment_intent: presentIntent(intent),
    })
  }
  const method = requireUsable(work, methodId, intent.customer)
  const isOffSession = parameters.off_session === true
  const tried: PaymentIntent = {
    ...intent,
    payment_method: method.id,
    last_payment_error: null,
    simulator: { returnUrl: parameters.return_url ?? intent.simulator.returnUrl },
  }
  if (requiresAuthentication(method, isOffSession)) {
    if (isOffSession) return decline(work, tried, method, authenticationRequired)
    const asking: PaymentIntent = { ...tried, status: 'requires_action' }
    work.put('payment_intent', asking)
    emit(work, 'payment_intent.requires_action', asking)
    return ok(presentIntent(asking))
  }
  return charge(work, tried, method)
}

/** Ends the authentication of the cardholder by the bank. */
export function authenticatePayment(work: UnitOfWork, id: string, isAccepted: boolean): Answer {
  const intent = work.require('payment_intent', id)
  if (intent.status !== 'requires_action') throw unexpectedState(intent, 'authenticate')
  const method = requireUsable(work, intent.payment_method!, intent.customer)
  if (isAccepted) return charge(work, intent, method)
  const error: CardError = {
    code: 'payment_intent_authentication_failure',
    message: 'The provided PaymentMethod has failed authentication.',
  }
  return fail(work, intent, method, error, undefined, 'invalid_request_error')
}

export function cancelPaymentIntent(
  work: UnitOfWork,
  id: string,
  reason: string | undefined,
): Answer {
  const intent = work.require('payment_intent', id)
  if (!isOpen(intent) && intent.status !== 'requires_action') {
    throw unexpectedState(intent, 'cancel')
  }
  const canceled: PaymentIntent = {
    ...intent,
    status: 'canceled',
    canceled_at: work.now,
    cancellation_reason: reason ?? null,
  }
  work.put('payment_intent', canceled)
  emit(work, 'payment_intent.canceled', canceled)
  return ok(presentIntent(canceled))
}

/** Ends a slow payment. */
export function settlePayment(work: UnitOfWork, id: string, isPaid: boolean): void {
  const intent = work.require('payment_intent', id)
  if (intent.status !== 'processing') return
  const method = work.require('payment_method', intent.payment_method!)
  const error: CardError = {
    code: 'card_declined',
    decline_code: 'generic_decline',
    message: 'Your card was declined.',
  }
  const charged = endCharge(work, intent.latest_charge!, isPaid ? undefined : error)
  if (isPaid) succeed(work, intent, method, charged.id)
  else fail(work, intent, method, error, charged.id)
}

function charge(work: UnitOfWork, intent: PaymentIntent, method: PaymentMethod): Answer {
  const { chargeError, settlesLater } = testCard(method.simulator.number)
  if (chargeError !== undefined) return decline(work, intent, method, chargeError)
  if (settlesLater === undefined) {
    const { id } = chargeCard(work, intent, method, 'succeeded')
    return ok(presentIntent(succeed(work, intent, method, id)))
  }
  const { id } = chargeCard(work, intent, method, 'pending')
  const processing: PaymentIntent = { ...intent, status: 'processing', latest_charge: id }
  work.put('payment_intent', processing)
  emit(work, 'payment_intent.processing', processing)
  work.schedule(processingSeconds, {
    do: 'settle_payment',
    id: intent.id,
    isPaid: settlesLater === 'succeeded',
  })
  return ok(presentIntent(processing))
}

function succeed(
  work: UnitOfWork,
  intent: PaymentIntent,
  method: PaymentMethod,
  latestCharge: string,
): PaymentIntent {
  const paid: PaymentIntent = {
    ...intent,
    status: 'succeeded',
    amount_received: intent.amount,
    latest_charge: latestCharge,
  }
  work.put('payment_intent', paid)
  emit(work, 'payment_intent.succeeded', paid)
  saveCard(work, paid, method)
  return paid
}

/** Saves the card for later charges if requested. A card without a customer can only be used for one payment. */
function saveCard(work: UnitOfWork, intent: PaymentIntent, method: PaymentMethod): void {
  const isSetUp = method.simulator.isSetUp || intent.setup_future_usage === 'off_session'
  const isKept = intent.setup_future_usage !== null && intent.customer !== null
  const isUsedUp = method.customer === null && !isKept
  const used: PaymentMethod = { ...method, simulator: { ...method.simulator, isSetUp, isUsedUp } }
  work.put('payment_method', used)
  if (isKept && used.customer === null) attachTo(work, used, intent.customer)
}

function decline(
  work: UnitOfWork,
  intent: PaymentIntent,
  method: PaymentMethod,
  error: CardError,
): Answer {
  return fail(work, intent, method, error, chargeCard(work, intent, method, error).id)
}

function fail(
  work: UnitOfWork,
  intent: PaymentIntent,
  method: PaymentMethod,
  error: CardError,
  chargeId: string | undefined,
  type: 'card_error' | 'invalid_request_error' = 'card_error',
): Answer {
  const last = lastError(error, method, chargeId, type)
  const open: PaymentIntent = {
    ...intent,
    status: 'requires_payment_method',
    payment_method: null,
    last_payment_error: last,
    latest_charge: chargeId ?? intent.latest_charge,
  }
  work.put('payment_intent', open)
  emit(work, 'payment_intent.payment_failed', open)
  return failed(open, last)
}

function isOpen({ status }: PaymentIntent): boolean {
  return status === 'requires_payment_method' || status === 'requires_confirmation'
}
