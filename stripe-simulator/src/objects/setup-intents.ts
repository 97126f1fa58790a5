import { invalid } from '../errors.ts'
import { ok, type Answer } from '../answer.ts'
import { newId, type World } from '../store/world.ts'
import { requireCustomer } from './customers.ts'
import { emit } from './event-log.ts'
import { failed, lastError, unexpectedState, type Confirmation } from './intents.ts'
import { changedMetadata, type MetadataChange } from './metadata.ts'
import { giveTo, requireUsable } from './payment-methods.ts'
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

export function createSetupIntent(world: World, wanted: NewSetupIntent): Answer {
  const customer =
    wanted.customer === undefined ? null : requireCustomer(world, wanted.customer, 'customer').id
  const method =
    wanted.payment_method === undefined
      ? undefined
      : requireUsable(world, wanted.payment_method, customer)
  const id = newId('seti_')
  const intent: SetupIntent = {
    id,
    object: 'setup_intent',
    cancellation_reason: null,
    client_secret: `${id}_${newId('secret_')}`,
    created: world.now,
    customer,
    description: wanted.description ?? null,
    last_setup_error: null,
    latest_attempt: null,
    livemode: world.mode === 'live',
    mandate: null,
    metadata: changedMetadata({}, wanted.metadata),
    payment_method: method?.id ?? null,
    payment_method_types: ['card'],
    status: method === undefined ? 'requires_payment_method' : 'requires_confirmation',
    usage: wanted.usage ?? 'off_session',
    simulator: { returnUrl: null },
  }
  world.add('setup_intent', intent, customer === null ? [] : [customer])
  emit(world, 'setup_intent.created', intent)
  if (wanted.confirm !== true) return ok(presentIntent(intent))
  return confirmSetupIntent(world, id, { ...wanted, payment_method: method?.id })
}

/**
 * Confirms a setup intent. Authentication is required for each card that may require it later, because that is the purpose of a
 * setup.
 */
export function confirmSetupIntent(world: World, id: string, given: Confirmation): Answer {
  const intent = world.require('setup_intent', id)
  if (intent.status === 'succeeded' || intent.status === 'canceled') {
    throw unexpectedState(intent, 'confirm')
  }
  const methodId = given.payment_method ?? intent.payment_method
  if (methodId === null) {
    throw invalid("You cannot confirm this SetupIntent because it's missing a payment method.", {
      code: 'setup_intent_unexpected_state',
      setup_intent: presentIntent(intent),
    })
  }
  const method = requireUsable(world, methodId, intent.customer)
  const tried: SetupIntent = {
    ...intent,
    payment_method: method.id,
    last_setup_error: null,
    simulator: { returnUrl: given.return_url ?? intent.simulator.returnUrl },
  }
  const { attachError, authentication } = testCard(method.simulator.number)
  if (attachError !== undefined) return fail(world, tried, method, attachError, 'card_error')
  const isAsked = authentication !== undefined && !method.simulator.isSetUp
  if (!isAsked) return ok(presentIntent(succeed(world, tried, method)))
  const asking: SetupIntent = { ...tried, status: 'requires_action' }
  world.put('setup_intent', asking)
  emit(world, 'setup_intent.requires_action', asking)
  return ok(presentIntent(asking))
}

export function authenticateSetup(world: World, id: string, isAccepted: boolean): Answer {
  const intent = world.require('setup_intent', id)
  if (intent.status !== 'requires_action') throw unexpectedState(intent, 'authenticate')
  const method = requireUsable(world, intent.payment_method!, intent.customer)
  if (isAccepted) return ok(presentIntent(succeed(world, intent, method)))
  const error: CardError = {
    code: 'setup_intent_authentication_failure',
    message: 'The provided PaymentMethod has failed authentication.',
  }
  return fail(world, intent, method, error, 'invalid_request_error')
}

export function cancelSetupIntent(world: World, id: string, reason: string | undefined): Answer {
  const intent = world.require('setup_intent', id)
  if (intent.status === 'succeeded' || intent.status === 'canceled') {
    throw unexpectedState(intent, 'cancel')
  }
  const canceled: SetupIntent = {
    ...intent,
    status: 'canceled',
    cancellation_reason: reason ?? null,
  }
  world.put('setup_intent', canceled)
  emit(world, 'setup_intent.canceled', canceled)
  return ok(presentIntent(canceled))
}

function succeed(world: World, intent: SetupIntent, method: PaymentMethod): SetupIntent {
  const done: SetupIntent = { ...intent, status: 'succeeded' }
  world.put('setup_intent', done)
  emit(world, 'setup_intent.succeeded', done)
  const isSetUp = method.simulator.isSetUp || intent.usage === 'off_session'
  const kept: PaymentMethod = { ...method, simulator: { ...method.simulator, isSetUp } }
  world.put('payment_method', kept)
  if (intent.customer !== null && kept.customer === null) giveTo(world, kept, intent.customer)
  return done
}

function fail(
  world: World,
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
  world.put('setup_intent', open)
  emit(world, 'setup_intent.setup_failed', open)
  return failed(open, last)
}
