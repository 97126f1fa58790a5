import { invalid } from '../errors.ts'
import { newId, type UnitOfWork } from '../store/unit-of-work.ts'
import { postMovement } from './balance.ts'
import { emit } from './event-log.ts'
import type { Dispute } from '../store/records.ts'

/** Fee of the bank for a dispute, in minor units. */
const disputeFee = 1_500
const evidenceSeconds = 9 * 86_400

/**
 * Opens a dispute: the cardholder requests the money back. An inquiry withdraws nothing. A chargeback withdraws everything that is
 * not refunded.
 */
export function openDispute(
  work: UnitOfWork,
  chargeId: string,
  { reason, isInquiry }: { readonly reason: string; readonly isInquiry: boolean },
): Dispute {
  const charge = work.require('charge', chargeId, 'charge')
  const amount = charge.amount - charge.amount_refunded
  if (charge.status !== 'succeeded' || charge.disputed || amount === 0) {
    throw invalid('Only a paid charge that is neither disputed nor refunded can be disputed.')
  }
  const dispute: Dispute = {
    id: newId('dp_'),
    object: 'dispute',
    amount,
    balance_transactions: [],
    charge: charge.id,
    created: work.now,
    currency: charge.currency,
    enhanced_eligibility_types: [],
    evidence: { enhanced_evidence: {} },
    evidence_details: {
      due_by: work.now + evidenceSeconds,
      enhanced_eligibility: {},
      has_evidence: false,
      past_due: false,
      submission_count: 0,
    },
    is_charge_refundable: isInquiry,
    livemode: charge.livemode,
    metadata: {},
    payment_intent: charge.payment_intent,
    reason,
    status: isInquiry ? 'warning_needs_response' : 'needs_response',
  }
  const simulator = { ...charge.simulator, disputedAmount: isInquiry ? 0 : amount }
  work.put('charge', { ...charge, disputed: true, simulator })
  work.add('dispute', dispute, [charge.id])
  emit(work, 'charge.dispute.created', dispute)
  if (isInquiry) return dispute
  const withdrawn = moveDisputedFunds(work, dispute, -amount, disputeFee)
  emit(work, 'charge.dispute.funds_withdrawn', withdrawn)
  return withdrawn
}

export type DisputeEnding = 'won' | 'lost' | 'warning_closed'

/** Closes a dispute with the bank's decision. An inquiry can only end as `warning_closed`. */
export function closeDispute(work: UnitOfWork, id: string, ending: DisputeEnding): Dispute {
  const dispute = work.require('dispute', id)
  const isInquiry = dispute.status === 'warning_needs_response'
  const isOpen =
    isInquiry || dispute.status === 'needs_response' || dispute.status === 'under_review'
  if (!isOpen) throw invalid(`This dispute is already closed: it is ${dispute.status}.`)
  if (isInquiry !== (ending === 'warning_closed')) {
    throw invalid(`A dispute with the status ${dispute.status} cannot become ${ending}.`)
  }
  const closed: Dispute = { ...dispute, status: ending }
  work.put('dispute', closed)
  if (ending !== 'won') {
    emit(work, 'charge.dispute.closed', closed)
    return closed
  }
  const charge = work.require('charge', dispute.charge)
  work.put('charge', { ...charge, simulator: { ...charge.simulator, disputedAmount: 0 } })
  const reinstated = moveDisputedFunds(work, closed, dispute.amount, 0)
  emit(work, 'charge.dispute.funds_reinstated', reinstated)
  emit(work, 'charge.dispute.closed', reinstated)
  return reinstated
}

/** Submits evidence. As in Stripe's test mode, certain texts decide the dispute. */
export function submitEvidence(work: UnitOfWork, id: string, text: string | undefined): Dispute {
  const dispute = work.require('dispute', id)
  if (text === 'winning_evidence') return closeDispute(work, id, 'won')
  if (text === 'losing_evidence') return closeDispute(work, id, 'lost')
  if (dispute.status !== 'needs_response') {
    throw invalid(`This dispute takes no evidence: it is ${dispute.status}.`)
  }
  const details = { ...dispute.evidence_details, has_evidence: true, submission_count: 1 }
  const reviewed: Dispute = { ...dispute, status: 'under_review', evidence_details: details }
  work.put('dispute', reviewed)
  emit(work, 'charge.dispute.updated', reviewed, { status: dispute.status })
  return reviewed
}

function moveDisputedFunds(
  work: UnitOfWork,
  dispute: Dispute,
  amount: number,
  fee: number,
): Dispute {
  const transaction = postMovement(work, {
    type: 'adjustment',
    reportingCategory: amount < 0 ? 'dispute' : 'dispute_reversal',
    amount,
    fee,
    currency: dispute.currency,
    source: dispute.id,
    description: `Chargeback of ${dispute.charge}`,
  })
  const moved: Dispute = {
    ...dispute,
    balance_transactions: [...dispute.balance_transactions, transaction],
  }
  work.put('dispute', moved)
  return moved
}
