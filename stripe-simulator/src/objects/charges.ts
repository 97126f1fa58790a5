import { newId, type UnitOfWork } from '../store/unit-of-work.ts'
import { feeOf } from './amounts.ts'
import { postMovement } from './balance.ts'
import { openDispute } from './disputes.ts'
import { emit } from './event-log.ts'
import type { Charge, PaymentIntent, PaymentMethod } from '../store/records.ts'
import { testCard, type CardError } from './test-cards.ts'

/** Creates the charge of one attempt of a payment intent, with its result. */
export function chargeCard(
  work: UnitOfWork,
  intent: PaymentIntent,
  method: PaymentMethod,
  result: 'succeeded' | 'pending' | CardError,
): Charge {
  const failure = typeof result === 'string' ? undefined : result
  const status = typeof result === 'string' ? result : 'failed'
  const { brand, country, exp_month, exp_year, fingerprint, funding, last4 } = method.card
  const charge: Charge = {
    id: newId('ch_'),
    object: 'charge',
    amount: intent.amount,
    amount_captured: status === 'succeeded' ? intent.amount : 0,
    amount_refunded: 0,
    balance_transaction: null,
    billing_details: method.billing_details,
    captured: status !== 'failed',
    created: work.now,
    currency: intent.currency,
    customer: intent.customer,
    description: intent.description,
    disputed: false,
    failure_code: failure?.code ?? null,
    failure_message: failure?.message ?? null,
    livemode: intent.livemode,
    metadata: intent.metadata,
    paid: status === 'succeeded',
    payment_intent: intent.id,
    payment_method: method.id,
    payment_method_details: {
      type: 'card',
      card: { brand, country, exp_month, exp_year, fingerprint, funding, last4 },
    },
    receipt_url: null,
    refunded: false,
    status,
    simulator: { number: method.simulator.number, disputedAmount: 0 },
  }
  const owners = [intent.id, ...(intent.customer === null ? [] : [intent.customer])]
  work.add('charge', charge, owners)
  if (status === 'succeeded') return collect(work, charge)
  emit(work, `charge.${status}`, charge)
  return charge
}

/** Ends a pending charge. */
export function endCharge(work: UnitOfWork, id: string, error: CardError | undefined): Charge {
  const charge = work.require('charge', id)
  if (error === undefined) return collect(work, charge)
  const failed: Charge = {
    ...charge,
    status: 'failed',
    failure_code: error.code,
    failure_message: error.message,
  }
  work.put('charge', failed)
  emit(work, 'charge.failed', failed)
  return failed
}

/** Adds the money of a charge to the balance. */
function collect(work: UnitOfWork, charge: Charge): Charge {
  const card = testCard(charge.simulator.number)
  const transaction = postMovement(work, {
    type: 'charge',
    amount: charge.amount,
    fee: feeOf(charge.amount),
    currency: charge.currency,
    source: charge.id,
    description: charge.description,
    isPending: card.isAvailableAtOnce !== true,
  })
  const paid: Charge = {
    ...charge,
    status: 'succeeded',
    amount_captured: charge.amount,
    paid: true,
    balance_transaction: transaction.id,
  }
  work.put('charge', paid)
  emit(work, 'charge.succeeded', paid)
  if (card.dispute !== undefined) openDispute(work, paid.id, card.dispute)
  return paid
}
