import { invalid } from '../errors.ts'
import { ok, type Answer } from '../answer.ts'
import { newId, type UnitOfWork } from '../store/unit-of-work.ts'
import { requireCustomer } from './customers.ts'
import { emit } from './event-log.ts'
import { failed, lastError, unexpectedState, type Confirmation } from './intents.ts'
import { changedMetadata, type MetadataChange } from './metadata.ts'
import { attachTo, requireUsable } from './payment-methods.ts'
import { presentIntent } from './present.ts'
import type { PaymentMethod, SetupIntent } from '../store/records.ts'
import { testCard, type CardError } from './test-cards.ts'

export type NewSetupIntent = Confirmation & {
  readonly customer?: string | undefined
  readonly description?: string | undefined
  readonly usage?: string | undefined
  readonly metadata?: MetadataChange | undefined
  readonly confirm?: boolean | undefined
}

export function createSetupIntent(work: UnitOfWork, parameters: NewSetupIntent): Answer {
  const customer =
    parameters.customer === undefined
      ? null
      : requireCustomer(work, parameters.customer, 'customer').id
  const method =
    parameters.payment_method === undefined
      ? undefined
      : requireUsable(work, parameters.payment_method, customer)
  const id = newId('seti_')
  const intent: SetupIntent = {
    id,
    object: 'setup_intent',
    cancellation_reason: null,
    client_secret: `${id}_${newId('secret_')}`,
    created: work.now,
    customer,
    description: parameters.description ?? null,
    last_setup_error: null,
    latest_attempt: null,
    livemode: work.mode === 'live',
    mandate: null,
    metadata: changedMetadata({}, parameters.metadata),
    payment_method: method?.id ?? null,
    payment_method_types: ['card'],
    status: method === undefined ? 'requires_payment_method' : 'requires_confirmation',
    usage: parameters.usage ?? 'off_session',
    simulator: { returnUrl: null },
  }
  work.add('setup_intent', intent, customer === null ? [] : [customer])
  emit(work, 'setup_intent.created', intent)
  if (parameters.confirm !== true) return ok(presentIntent(intent))
  return confirmSetupIntent(work, id, { ...parameters, payment_method: method?.id })
}

/**
 * Confirms a setup intent. Authentication is required for each card that may require it later, because that is the purpose of a
 * setup.
 */
export function confirmSetupIntent(work: UnitOfWork, id: string, parameters: Confirmation): Answer {
  const intent = work.require('setup_intent', id)
  if (intent.status === 'succeeded' || intent.status === 'canceled') {
    throw unexpectedState(intent, 'confirm')
  }
  const methodId = parameters.payment_method ?? intent.payment_method
  if (methodId === null) {
    throw invalid("You cannot confirm this SetupIntent because it's missing a payment method.", {
      code: 'setup_intent_unexpected_state',
      setup_intent: presentIntent(intent),
    })
  }
  const method = requireUsable(work, methodId, intent.customer)
  const tried: SetupIntent = {
    ...intent,
    payment_method: method.id,
    last_setup_error: null,
    simulator: { returnUrl: parameters.return_url ?? intent.simulator.returnUrl },
  }
  const { attachError, authentication } = testCard(method.simulator.number)
  if (attachError !== undefined) return fail(work, tried, method, attachError, 'card_error')
  const isAsked = authentication !== undefined && !method.simulator.isSetUp
  if (!isAsked) return ok(presentIntent(succeed(work, tried, method)))
  const asking: SetupIntent = { ...tried, status: 'requires_action' }
  work.put('setup_intent', asking)
  emit(work, 'setup_intent.requires_action', asking)
  return ok(presentIntent(asking))
}

export function authenticateSetup(work: UnitOfWork, id: string, isAccepted: boolean): Answer {
  const intent = work.require('setup_intent', id)
  if (intent.status !== 'requires_action') throw unexpectedState(intent, 'authenticate')
  const method = requireUsable(work, intent.payment_method!, intent.customer)
  if (isAccepted) return ok(presentIntent(succeed(work, intent, method)))
  const error: CardError = {
    code: 'setup_intent_authentication_failure',
    message: 'The provided PaymentMethod has failed authentication.',
  }
  return fail(work, intent, method, error, 'invalid_request_error')
}

export function cancelSetupIntent(
  work: UnitOfWork,
  id: string,
  reason: string | undefined,
): Answer {
  const intent = work.require('setup_intent', id)
  if (intent.status === 'succeeded' || intent.status === 'canceled') {
    throw unexpectedState(intent, 'cancel')
  }
  const canceled: SetupIntent = {
    ...intent,
    status: 'canceled',
    cancellation_reason: reason ?? null,
  }
  work.put('setup_intent', canceled)
  emit(work, 'setup_intent.canceled', canceled)
  return ok(presentIntent(canceled))
}

function succeed(work: UnitOfWork, intent: SetupIntent, method: PaymentMethod): SetupIntent {
  const done: SetupIntent = { ...intent, status: 'succeeded' }
  work.put('setup_intent', done)
  emit(work, 'setup_intent.succeeded', done)
  const isSetUp = method.simulator.isSetUp || intent.usage === 'off_session'
  const kept: PaymentMethod = { ...method, simulator: { ...method.simulator, isSetUp } }
  work.put('payment_method', kept)
  if (intent.customer !== null && kept.customer === null) attachTo(work, kept, intent.customer)
  return done
}

function fail(
  work: UnitOfWork,
  intent: SetupIntent,
  method: PaymentMethod,
  error: CardError,
  type: 'card_error' | 'invalid_request_error',
): Answer {
  const last = lastError(error, method, undefined, type)
  const open: SetupIntent = {
    ...intent,
    status: 'requires_payment_method',
    payment_method: null,
    last_setup_error: last,
  }
  work.put('setup_intent', open)
  emit(work, 'setup_intent.setup_failed', open)
  return failed(open, last)
}
