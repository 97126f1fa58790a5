import { invalid } from '../errors.ts'
import { newId, type UnitOfWork } from '../store/unit-of-work.ts'
import { findBalance, postMovement } from './balance.ts'
import { emit } from './event-log.ts'
import { changedMetadata, type MetadataChange } from './metadata.ts'
import type { Payout } from '../store/records.ts'

const daySeconds = 86_400

export type NewPayout = {
  readonly amount: number
  readonly currency: string
  readonly description?: string | undefined
  readonly metadata?: MetadataChange | undefined
}

/** Creates a payout. It is in transit after 1 day and paid after 2 days, unless it is moved, failed or canceled before. */
export function createPayout(work: UnitOfWork, parameters: NewPayout): Payout {
  const { amount, currency } = parameters
  if (amount < 1) throw invalid('Invalid positive integer', { param: 'amount' })
  if (amount > findBalance(work, currency).available) {
    throw invalid('You have insufficient funds in your Stripe account for this payout.', {
      code: 'balance_insufficient',
    })
  }
  const id = newId('po_')
  const transaction = postMovement(work, { type: 'payout', amount: -amount, currency, source: id })
  const payout: Payout = {
    id,
    object: 'payout',
    amount,
    application_fee: null,
    application_fee_amount: null,
    arrival_date: work.now + 2 * daySeconds,
    automatic: false,
    balance_transaction: transaction.id,
    created: work.now,
    currency,
    description: parameters.description ?? null,
    destination: null,
    failure_balance_transaction: null,
    failure_code: null,
    failure_message: null,
    livemode: work.mode === 'live',
    metadata: changedMetadata({}, parameters.metadata),
    method: 'standard',
    original_payout: null,
    payout_method: null,
    reconciliation_status: 'not_applicable',
    reversed_by: null,
    source_type: 'card',
    statement_descriptor: null,
    status: 'pending',
    trace_id: null,
    type: 'bank_account',
  }
  work.add('payout', payout)
  emit(work, 'payout.created', payout)
  work.schedule(daySeconds, { do: 'move_payout', id, status: 'in_transit' })
  work.schedule(2 * daySeconds, { do: 'move_payout', id, status: 'paid' })
  return payout
}

const statusOrder: readonly Payout['status'][] = ['pending', 'in_transit', 'paid']

/** Moves a payout forward. A late or repeated move changes nothing. */
export function movePayout(work: UnitOfWork, id: string, status: 'in_transit' | 'paid'): Payout {
  const payout = work.require('payout', id)
  const isForward =
    statusOrder.includes(payout.status) &&
    statusOrder.indexOf(payout.status) < statusOrder.indexOf(status)
  if (!isForward) return payout
  const moved: Payout = { ...payout, status }
  work.put('payout', moved)
  emit(work, status === 'paid' ? 'payout.paid' : 'payout.updated', moved, {
    status: payout.status,
  })
  return moved
}

/** Fails a payout, even after it was paid: the bank has returned the money. */
export function failPayout(work: UnitOfWork, id: string): Payout {
  const payout = work.require('payout', id)
  if (payout.status === 'failed' || payout.status === 'canceled') {
    throw invalid(`The payout is ${payout.status} already.`)
  }
  return reversePayout(work, payout, {
    status: 'failed',
    failure_code: 'account_closed',
    failure_message: 'The bank account has been closed',
  })
}

export function cancelPayout(work: UnitOfWork, id: string): Payout {
  const payout = work.require('payout', id)
  if (payout.status !== 'pending') {
    throw invalid(
      `Payouts can only be canceled while they are pending; this one is ${payout.status}.`,
    )
  }
  return reversePayout(work, payout, { status: 'canceled' })
}

function reversePayout(
  work: UnitOfWork,
  payout: Payout,
  change: Pick<Payout, 'status'> & Partial<Payout>,
): Payout {
  const isFailure = change.status === 'failed'
  const transaction = postMovement(work, {
    type: isFailure ? 'payout_failure' : 'payout_cancel',
    reportingCategory: 'payout_reversal',
    amount: payout.amount,
    currency: payout.currency,
    source: payout.id,
  })
  const returned: Payout = {
    ...payout,
    ...change,
    failure_balance_transaction: transaction.id,
  }
  work.put('payout', returned)
  emit(work, isFailure ? 'payout.failed' : 'payout.canceled', returned, { status: payout.status })
  return returned
}
