import { invalid } from '../errors.ts'
import { ok, type Answer } from '../answer.ts'
import { newId, type World } from '../store/world.ts'
import { requireChargeable } from './amounts.ts'
import { chargeCard, endCharge } from './charges.ts'
import { requireCustomer } from './customers.ts'
import { emit } from './event-log.ts'
import {
  asksCustomer,
  authenticationRequired,
  failed,
  lastError,
  unexpectedState,
  type Confirmation,
} from './intents.ts'
import { changedMetadata, type MetadataChange } from './metadata.ts'
import { giveTo, requireUsable } from './payment-methods.ts'
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

export function createPaymentIntent(world: World, wanted: NewPaymentIntent): Answer {
  requireChargeable(wanted.amount, wanted.currency)
  const customer =
    wanted.customer === undefined ? null : requireCustomer(world, wanted.customer, 'customer').id
  if (wanted.off_session === true && wanted.confirm !== true) {
    throw invalid('You cannot set off_session without setting confirm to true.', {
      param: 'off_session',
    })
  }
  const method =
    wanted.payment_method === undefined
      ? undefined
      : requireUsable(world, wanted.payment_method, customer)
  const id = newId('pi_')
  const intent: PaymentIntent = {
    id,
    object: 'payment_intent',
    amount: wanted.amount,
    amount_capturable: 0,
    amount_received: 0,
    canceled_at: null,
    cancellation_reason: null,
    capture_method: 'automatic_async',
    client_secret: `${id}_${newId('secret_')}`,
    confirmation_method: 'automatic',
    created: world.now,
    currency: wanted.currency,
    customer,
    description: wanted.description ?? null,
    last_payment_error: null,
    latest_charge: null,
    livemode: world.mode === 'live',
    metadata: changedMetadata({}, wanted.metadata),
    payment_method: method?.id ?? null,
    payment_method_types: ['card'],
    setup_future_usage: wanted.setup_future_usage ?? null,
    status: method === undefined ? 'requires_payment_method' : 'requires_confirmation',
    simulator: { returnUrl: null },
  }
  world.add('payment_intent', intent, customer === null ? [] : [customer])
  emit(world, 'payment_intent.created', intent)
  if (wanted.confirm !== true) return ok(presentIntent(intent))
  // The token has already created a payment method, so that method is confirmed.
  return confirmPaymentIntent(world, id, { ...wanted, payment_method: method?.id })
}

export function updatePaymentIntent(
  world: World,
  id: string,
  change: {
    readonly amount?: number | undefined
    readonly description?: string | undefined
    readonly metadata?: MetadataChange | undefined
  },
): Answer {
  const intent = world.require('payment_intent', id)
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
  world.put('payment_intent', changed)
  return ok(presentIntent(changed))
}

export function confirmPaymentIntent(world: World, id: string, given: Confirmation): Answer {
  const intent = world.require('payment_intent', id)
  if (!isOpen(intent) && intent.status !== 'requires_action') {
    throw unexpectedState(intent, 'confirm')
  }
  const methodId = given.payment_method ?? intent.payment_method
  if (methodId === null) {
    throw invalid("You cannot confirm this PaymentIntent because it's missing a payment method.", {
      code: 'payment_intent_unexpected_state',
      payment_intent: presentIntent(intent),
    })
  }
  const method = requireUsable(world, methodId, intent.customer)
  const isOffSession = given.off_session === true
  const tried: PaymentIntent = {
    ...intent,
    payment_method: method.id,
    last_payment_error: null,
    simulator: { returnUrl: given.return_url ?? intent.simulator.returnUrl },
  }
  if (asksCustomer(method, isOffSession)) {
    if (isOffSession) return turnDown(world, tried, method, authenticationRequired)
    const asking: PaymentIntent = { ...tried, status: 'requires_action' }
    world.put('payment_intent', asking)
    emit(world, 'payment_intent.requires_action', asking)
    return ok(presentIntent(asking))
  }
  return charge(world, tried, method)
}

/** Ends the authentication of the cardholder by the bank. */
export function authenticatePayment(world: World, id: string, isAccepted: boolean): Answer {
  const intent = world.require('payment_intent', id)
  if (intent.status !== 'requires_action') throw unexpectedState(intent, 'authenticate')
  const method = requireUsable(world, intent.payment_method!, intent.customer)
  if (isAccepted) return charge(world, intent, method)
  const error: CardError = {
    code: 'payment_intent_authentication_failure',
    message: 'The provided PaymentMethod has failed authentication.',
  }
  return fail(world, intent, method, error, undefined, 'invalid_request_error')
}

export function cancelPaymentIntent(world: World, id: string, reason: string | undefined): Answer {
  const intent = world.require('payment_intent', id)
  if (!isOpen(intent) && intent.status !== 'requires_action') {
    throw unexpectedState(intent, 'cancel')
  }
  const canceled: PaymentIntent = {
    ...intent,
    status: 'canceled',
    canceled_at: world.now,
    cancellation_reason: reason ?? null,
  }
  world.put('payment_intent', canceled)
  emit(world, 'payment_intent.canceled', canceled)
  return ok(presentIntent(canceled))
}

/** Ends a slow payment. */
export function settlePayment(world: World, id: string, isPaid: boolean): void {
  const intent = world.require('payment_intent', id)
  if (intent.status !== 'processing') return
  const method = world.require('payment_method', intent.payment_method!)
  const error: CardError = {
    code: 'card_declined',
    decline_code: 'generic_decline',
    message: 'Your card was declined.',
  }
  const charged = endCharge(world, intent.latest_charge!, isPaid ? undefined : error)
  if (isPaid) succeed(world, intent, method, charged.id)
  else fail(world, intent, method, error, charged.id)
}

function charge(world: World, intent: PaymentIntent, method: PaymentMethod): Answer {
  const { chargeError, settlesLater } = testCard(method.simulator.number)
  if (chargeError !== undefined) return turnDown(world, intent, method, chargeError)
  if (settlesLater === undefined) {
    const { id } = chargeCard(world, intent, method, 'succeeded')
    return ok(presentIntent(succeed(world, intent, method, id)))
  }
  const { id } = chargeCard(world, intent, method, 'pending')
  const processing: PaymentIntent = { ...intent, status: 'processing', latest_charge: id }
  world.put('payment_intent', processing)
  emit(world, 'payment_intent.processing', processing)
  world.later(processingSeconds, {
    do: 'settle_payment',
    id: intent.id,
    isPaid: settlesLater === 'succeeded',
  })
  return ok(presentIntent(processing))
}

function succeed(
  world: World,
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
  world.put('payment_intent', paid)
  emit(world, 'payment_intent.succeeded', paid)
  keepCard(world, paid, method)
  return paid
}

/** Saves the card for later charges if requested. A card without a customer can only be used for one payment. */
function keepCard(world: World, intent: PaymentIntent, method: PaymentMethod): void {
  const isSetUp = method.simulator.isSetUp || intent.setup_future_usage === 'off_session'
  const isKept = intent.setup_future_usage !== null && intent.customer !== null
  const isUsedUp = method.customer === null && !isKept
  const used: PaymentMethod = { ...method, simulator: { ...method.simulator, isSetUp, isUsedUp } }
  world.put('payment_method', used)
  if (isKept && used.customer === null) giveTo(world, used, intent.customer)
}

function turnDown(
  world: World,
  intent: PaymentIntent,
  method: PaymentMethod,
  error: CardError,
): Answer {
  return fail(world, intent, method, error, chargeCard(world, intent, method, error).id)
}

function fail(
  world: World,
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
  world.put('payment_intent', open)
  emit(world, 'payment_intent.payment_failed', open)
  return failed(open, last)
}

function isOpen({ status }: PaymentIntent): boolean {
  return status === 'requires_payment_method' || status === 'requires_confirmation'
}
