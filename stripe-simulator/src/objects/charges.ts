import { newId, type World } from '../store/world.ts'
import { feeOf } from './amounts.ts'
import { move } from './balance.ts'
import { openDispute } from './disputes.ts'
import { emit } from './event-log.ts'
import type { Charge, PaymentIntent, PaymentMethod } from '../store/records.ts'
import { testCard, type CardError } from './test-cards.ts'

/** Creates the charge of one attempt of a payment intent, with its result. */
export function chargeCard(
  world: World,
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
    created: world.now,
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
  world.add('charge', charge, owners)
  if (status === 'succeeded') return collect(world, charge)
  emit(world, `charge.${status}`, charge)
  return charge
}

/** Ends a pending charge. */
export function endCharge(world: World, id: string, error: CardError | undefined): Charge {
  const charge = world.require('charge', id)
  if (error === undefined) return collect(world, charge)
  const failed: Charge = {
    ...charge,
    status: 'failed',
    failure_code: error.code,
    failure_message: error.message,
  }
  world.put('charge', failed)
  emit(world, 'charge.failed', failed)
  return failed
}

/** Adds the money of a charge to the balance. */
function collect(world: World, charge: Charge): Charge {
  const card = testCard(charge.simulator.number)
  const transaction = move(world, {
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
  world.put('charge', paid)
  emit(world, 'charge.succeeded', paid)
  if (card.dispute !== undefined) openDispute(world, paid.id, card.dispute)
  return paid
}
