import { invalid, missing } from '../errors.ts'
import { newId, type UnitOfWork } from '../store/unit-of-work.ts'
import { postMovement } from './balance.ts'
import { emit } from './event-log.ts'
import { changedMetadata, type MetadataChange } from './metadata.ts'
import type { Charge, Refund } from '../store/records.ts'
import { testCard } from './test-cards.ts'

/** Seconds of the simulated clock until a pending refund ends, or a succeeded one fails. */
const refundSeconds = 5

export type NewRefund = {
  readonly charge?: string | undefined
  readonly payment_intent?: string | undefined
  readonly amount?: number | undefined
  readonly reason?: string | undefined
  readonly metadata?: MetadataChange | undefined
}

export function createRefund(work: UnitOfWork, parameters: NewRefund): Refund {
  const charge = requireRefundable(work, parameters)
  const left = charge.amount - charge.amount_refunded
  const amount = parameters.amount ?? left
  if (charge.refunded) {
    throw invalid(`Charge ${charge.id} has already been refunded.`, {
      code: 'charge_already_refunded',
    })
  }
  if (charge.simulator.disputedAmount > 0) {
    throw invalid(`Charge ${charge.id} has been charged back; cannot issue a refund.`, {
      code: 'charge_disputed',
    })
  }
  if (amount < 1) throw invalid('Invalid positive integer', { param: 'amount' })
  if (amount > left) {
    throw invalid(
      `Refund amount (${amount}) is greater than unrefunded amount on charge (${left})`,
      {
        param: 'amount',
      },
    )
  }
  const behaviour = testCard(charge.simulator.number).refund
  const id = newId('re_')
  const transaction = postMovement(work, {
    type: 'refund',
    amount: -amount,
    currency: charge.currency,
    source: id,
  })
  const refund: Refund = {
    id,
    object: 'refund',
    amount,
    balance_transaction: transaction.id,
    charge: charge.id,
    created: work.now,
    currency: charge.currency,
    metadata: changedMetadata({}, parameters.metadata),
    payment_intent: charge.payment_intent,
    ...(behaviour === 'pending' && { pending_reason: 'processing' }),
    reason: parameters.reason ?? null,
    receipt_number: null,
    status: behaviour === 'pending' ? 'pending' : 'succeeded',
  }
  work.add('refund', refund, [charge.id, charge.payment_intent])
  const refunded = changeRefunded(work, charge.id, amount)
  emit(work, 'refund.created', refund)
  emit(work, 'charge.refunded', refunded)
  if (behaviour !== undefined) {
    const status = behaviour === 'pending' ? 'succeeded' : 'failed'
    work.schedule(refundSeconds, { do: 'end_refund', id, status })
  }
  return refund
}

/** Ends a refund. A succeeded refund can still fail. The money then returns to the balance and can be refunded again. */
export function endRefund(work: UnitOfWork, id: string, status: 'succeeded' | 'failed'): Refund {
  const refund = work.require('refund', id)
  if (refund.status === status) return refund
  if (refund.status === 'failed') throw invalid('A refund that has failed stays failed.')
  const { pending_reason: _, ...settled } = refund
  if (status === 'succeeded') {
    const ended: Refund = { ...settled, status }
    work.put('refund', ended)
    emit(work, 'refund.updated', ended, { status: refund.status })
    return ended
  }
  const transaction = postMovement(work, {
    type: 'refund_failure',
    amount: refund.amount,
    currency: refund.currency,
    source: refund.id,
  })
  const failed: Refund = {
    ...settled,
    status,
    failure_balance_transaction: transaction.id,
    failure_reason: 'expired_or_canceled_card',
  }
  work.put('refund', failed)
  changeRefunded(work, refund.charge, -refund.amount)
  emit(work, 'refund.updated', failed, { status: refund.status })
  emit(work, 'refund.failed', failed)
  emit(work, 'charge.refund.updated', failed, { status: refund.status })
  return failed
}

function changeRefunded(work: UnitOfWork, chargeId: string, change: number): Charge {
  const charge = work.require('charge', chargeId)
  const amountRefunded = charge.amount_refunded + change
  const changed: Charge = {
    ...charge,
    amount_refunded: amountRefunded,
    refunded: amountRefunded === charge.amount,
  }
  work.put('charge', changed)
  return changed
}

function requireRefundable(work: UnitOfWork, parameters: NewRefund): Charge {
  const { charge: chargeId, payment_intent: intentId } = parameters
  if (chargeId !== undefined) return requirePaid(work.require('charge', chargeId, 'charge'))
  if (intentId === undefined) {
    throw invalid(
      'One of the following params should be provided for this request: payment_intent, charge.',
    )
  }
  const intent = work.find('payment_intent', intentId)
  if (intent === undefined) throw missing('payment_intent', intentId, 'payment_intent')
  if (intent.latest_charge === null || intent.status !== 'succeeded') {
    throw invalid(`This PaymentIntent (${intentId}) does not have a successful charge to refund.`)
  }
  return requirePaid(work.require('charge', intent.latest_charge))
}

function requirePaid(charge: Charge): Charge {
  if (charge.status === 'succeeded') return charge
  throw invalid(`Charge ${charge.id} was not paid; there is nothing to refund.`, {
    code: 'charge_not_refundable',
  })
}
