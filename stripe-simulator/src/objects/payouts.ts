import { invalid } from '../errors.ts'
import { newId, type World } from '../store/world.ts'
import { findBalance, move } from './balance.ts'
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
export function createPayout(world: World, wanted: NewPayout): Payout {
  const { amount, currency } = wanted
  if (amount < 1) throw invalid('Invalid positive integer', { param: 'amount' })
  if (amount > findBalance(world, currency).available) {
    throw invalid('You have insufficient funds in your Stripe account for this payout.', {
      code: 'balance_insufficient',
    })
  }
  const id = newId('po_')
  const transaction = move(world, { type: 'payout', amount: -amount, currency, source: id })
  const payout: Payout = {
    id,
    object: 'payout',
    amount,
    application_fee: null,
    application_fee_amount: null,
    arrival_date: world.now + 2 * daySeconds,
    automatic: false,
    balance_transaction: transaction.id,
    created: world.now,
    currency,
    description: wanted.description ?? null,
    destination: null,
    failure_balance_transaction: null,
    failure_code: null,
    failure_message: null,
    livemode: world.mode === 'live',
    metadata: changedMetadata({}, wanted.metadata),
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
  world.add('payout', payout)
  emit(world, 'payout.created', payout)
  world.later(daySeconds, { do: 'move_payout', id, status: 'in_transit' })
  world.later(2 * daySeconds, { do: 'move_payout', id, status: 'paid' })
  return payout
}

const order: readonly Payout['status'][] = ['pending', 'in_transit', 'paid']

/** Moves a payout forward. A late or repeated move changes nothing. */
export function movePayout(world: World, id: string, status: 'in_transit' | 'paid'): Payout {
  const payout = world.require('payout', id)
  const isForward =
    order.includes(payout.status) && order.indexOf(payout.status) < order.indexOf(status)
  if (!isForward) return payout
  const moved: Payout = { ...payout, status }
  world.put('payout', moved)
  emit(world, status === 'paid' ? 'payout.paid' : 'payout.updated', moved, {
    status: payout.status,
  })
  return moved
}

/** Fails a payout, even after it was paid: the bank has returned the money. */
export function failPayout(world: World, id: string): Payout {
  const payout = world.require('payout', id)
  if (payout.status === 'failed' || payout.status === 'canceled') {
    throw invalid(`The payout is ${payout.status} already.`)
  }
  return takeBack(world, payout, {
    status: 'failed',
    failure_code: 'account_closed',
    failure_message: 'The bank account has been closed',
  })
}

export function cancelPayout(world: World, id: string): Payout {
  const payout = world.require('payout', id)
  if (payout.status !== 'pending') {
    throw invalid(
      `Payouts can only be canceled while they are pending; this one is ${payout.status}.`,
    )
  }
  return takeBack(world, payout, { status: 'canceled' })
}

function takeBack(
  world: World,
  payout: Payout,
  change: Pick<Payout, 'status'> & Partial<Payout>,
): Payout {
  const isFailure = change.status === 'failed'
  const transaction = move(world, {
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
  world.put('payout', returned)
  emit(world, isFailure ? 'payout.failed' : 'payout.canceled', returned, { status: payout.status })
  return returned
}
