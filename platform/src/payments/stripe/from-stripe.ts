import type Stripe from 'stripe'
import type {
  Charge,
  Dispute,
  IntentStatus,
  NextAction,
  PaymentCard,
  PaymentIntent,
  PaymentMethod,
  Payout,
  ProcessorCustomer,
  Refund,
  Settlement,
  SetupIntent,
} from '../payment-objects.ts'
import { fromProcessorAmount, restOfProcessorAmount } from '../processor-amounts.ts'
import { declineOf } from './decline-of.ts'

export function customerFrom(customer: Stripe.Customer): ProcessorCustomer {
  return {
    id: customer.id,
    email: customer.email ?? undefined,
    name: customer.name ?? undefined,
    defaultPaymentMethodId: idOf(customer.invoice_settings.default_payment_method),
    metadata: customer.metadata,
  }
}

export function paymentMethodFrom(method: Stripe.PaymentMethod): PaymentMethod {
  return {
    id: method.id,
    customerId: idOf(method.customer),
    card: method.card === undefined ? undefined : cardFrom(method.card),
  }
}

export function paymentIntentFrom(intent: Stripe.PaymentIntent): PaymentIntent {
  return {
    kind: 'payment_intent',
    ...intentFrom(intent, intent.last_payment_error),
    amountMinor: amountFrom(intent.amount, intent.currency),
    receivedMinor: amountFrom(intent.amount_received, intent.currency),
    currency: intent.currency.toUpperCase(),
    chargeId: idOf(intent.latest_charge),
    settlement:
      intent.latest_charge === null || typeof intent.latest_charge === 'string'
        ? undefined
        : settlementOf(intent.latest_charge.balance_transaction),
  }
}

export function setupIntentFrom(intent: Stripe.SetupIntent): SetupIntent {
  return { kind: 'setup_intent', ...intentFrom(intent, intent.last_setup_error) }
}

function intentFrom(
  intent: Stripe.PaymentIntent | Stripe.SetupIntent,
  lastError: Stripe.PaymentIntent.LastPaymentError | Stripe.SetupIntent.LastSetupError | null,
): Omit<SetupIntent, 'kind'> {
  return {
    id: intent.id,
    status: statusFrom(intent.status),
    customerId: idOf(intent.customer),
    paymentMethodId: idOf(intent.payment_method),
    clientSecret: intent.client_secret ?? undefined,
    nextAction: intent.next_action === null ? undefined : nextActionFrom(intent.next_action),
    lastDecline: lastError === null ? undefined : declineOf(lastError),
    metadata: intent.metadata ?? {},
    createdAt: timeFrom(intent.created),
  }
}

function statusFrom(status: string): IntentStatus {
  switch (status) {
    case 'requires_payment_method':
    case 'requires_confirmation':
      return 'open'
    // We never request separate capture, so an authorized payment is captured at once.
    case 'requires_capture':
      return 'processing'
    default:
      return known(['requires_action', 'processing', 'succeeded', 'canceled'], status)
  }
}

function nextActionFrom(
  action: Stripe.PaymentIntent.NextAction | Stripe.SetupIntent.NextAction,
): NextAction {
  const url = action.redirect_to_url?.url
  return typeof url === 'string' ? { kind: 'redirect', url } : { kind: 'browser' }
}

export function chargeFrom(charge: Stripe.Charge): Charge {
  const card = charge.payment_method_details?.card
  return {
    kind: 'charge',
    id: charge.id,
    status: known(['succeeded', 'pending', 'failed'], charge.status),
    amountMinor: amountFrom(charge.amount, charge.currency),
    refundedMinor: amountFrom(charge.amount_refunded, charge.currency),
    currency: charge.currency.toUpperCase(),
    customerId: idOf(charge.customer),
    paymentIntentId: idOf(charge.payment_intent),
    card: card === undefined || card === null ? undefined : cardFrom(card),
    isDisputed: charge.disputed,
    settlement: settlementOf(charge.balance_transaction),
    createdAt: timeFrom(charge.created),
  }
}

export function refundFrom(refund: Stripe.Refund): Refund {
  return {
    kind: 'refund',
    id: refund.id,
    status: known(refundStatuses, refund.status),
    amountMinor: amountFrom(refund.amount, refund.currency),
    currency: refund.currency.toUpperCase(),
    chargeId: idOf(refund.charge),
    paymentIntentId: idOf(refund.payment_intent),
    reason: refund.reason ?? undefined,
    pendingReason: refund.pending_reason,
    failureReason: refund.failure_reason,
    settlement: settlementOf(refund.balance_transaction),
    failureSettlement: settlementOf(refund.failure_balance_transaction),
    metadata: refund.metadata ?? {},
    createdAt: timeFrom(refund.created),
  }
}

export function disputeFrom(dispute: Stripe.Dispute): Dispute {
  return {
    kind: 'dispute',
    id: dispute.id,
    status: known(disputeStatuses, dispute.status),
    amountMinor: amountFrom(dispute.amount, dispute.currency),
    currency: dispute.currency.toUpperCase(),
    reason: dispute.reason,
    chargeId: idOf(dispute.charge)!,
    paymentIntentId: idOf(dispute.payment_intent),
    movements: dispute.balance_transactions
      .toSorted((one, other) => one.created - other.created)
      .map((each) => ({ id: each.id, ...settlementFrom(each) })),
    createdAt: timeFrom(dispute.created),
  }
}

export function payoutFrom(payout: Stripe.Payout): Payout {
  return {
    kind: 'payout',
    id: payout.id,
    status: known(payoutStatuses, payout.status),
    amountMinor: amountFrom(payout.amount, payout.currency),
    restUnits: restOf(payout.amount, payout.currency),
    currency: payout.currency.toUpperCase(),
    arrivalDate: timeFrom(payout.arrival_date),
    failureCode: payout.failure_code ?? undefined,
    failureMessage: payout.failure_message ?? undefined,
    createdAt: timeFrom(payout.created),
  }
}

/** Returns undefined if Stripe returned only an id, because expansion was not requested. */
function settlementOf(
  movement: string | Stripe.BalanceTransaction | null | undefined,
): Settlement | undefined {
  return typeof movement === 'object' && movement !== null ? settlementFrom(movement) : undefined
}

function settlementFrom(movement: Stripe.BalanceTransaction): Settlement {
  const amountMinor = amountFrom(movement.amount, movement.currency)
  const netMinor = amountFrom(movement.net, movement.currency)
  return {
    amountMinor,
    // The fee is computed, because Stripe's fee may be finer than our minor units and the three values must add up.
    feeMinor: amountMinor - netMinor,
    netMinor,
    restUnits: restOf(movement.net, movement.currency),
    currency: movement.currency.toUpperCase(),
  }
}

function amountFrom(amount: number, currency: string): bigint {
  return fromProcessorAmount(BigInt(amount), currency.toUpperCase())
}

function cardFrom(card: {
  readonly brand: string | null
  readonly last4: string | null
  readonly exp_month: number
  readonly exp_year: number
}): PaymentCard {
  return {
    brand: card.brand ?? 'unknown',
    last4: card.last4 ?? '',
    expMonth: card.exp_month,
    expYear: card.exp_year,
  }
}

function restOf(amount: number, currency: string): bigint {
  return restOfProcessorAmount(BigInt(amount), currency.toUpperCase())
}

const refundStatuses = ['pending', 'requires_action', 'succeeded', 'failed', 'canceled'] as const
const payoutStatuses = ['pending', 'in_transit', 'paid', 'failed', 'canceled'] as const
const disputeStatuses = [
  'warning_needs_response',
  'warning_under_review',
  'warning_closed',
  'needs_response',
  'under_review',
  'won',
  'lost',
  'prevented',
] as const

/** Stripe's response contains a value that the pinned API version does not have. */
export class UnreadableAnswerError extends Error {
  override readonly name = 'UnreadableAnswerError'
}

function known<Word extends string>(words: readonly Word[], given: string | null): Word {
  const word = words.find((each) => each === given)
  if (word !== undefined) return word
  throw new UnreadableAnswerError(`Stripe answered with the status ${given}.`)
}

export function timeFrom(unixSeconds: number): Date {
  return new Date(unixSeconds * 1_000)
}

/** Returns the id of a reference, which Stripe sends as an id or as an expanded object. */
function idOf(object: string | { readonly id: string } | null | undefined): string | undefined {
  return typeof object === 'string' ? object : object?.id
}
