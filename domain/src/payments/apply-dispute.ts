import type { Dispute } from '@tollgate/platform/payments/payment-objects'
import { unixSeconds } from '../outbox/unix-seconds.ts'
import { recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { findDisputeStatus, saveDispute } from './disputes-repository.ts'
import { lockIntent } from './intents-repository.ts'
import { postDispute } from './post-dispute.ts'

type DisputeStatus = Dispute['status']

/** A bank's question becomes a dispute, or not; a dispute ends won or lost. Never back. */
const rank: Readonly<Record<DisputeStatus, number>> = {
  warning_needs_response: 0,
  warning_under_review: 0,
  warning_closed: 1,
  prevented: 1,
  needs_response: 2,
  under_review: 2,
  won: 3,
  lost: 3,
}

const disputed = rank.needs_response
const closed = rank.won

/**
 * Makes of a dispute what the processor says of it. A question of the bank alone is no dispute. One that is seen for the
 * first time when it has been closed is told of twice: it was opened, and it was closed.
 */
export async function applyDispute(
  work: UnitOfWork,
  intentRef: string,
  dispute: Dispute,
): Promise<void> {
  const { sql, providerId, now } = work
  const { id, status } = dispute
  // Orders those who look at once.
  const intent = await lockIntent(sql, providerId, intentRef)
  if (intent === undefined) throw new Error(`payment ${intentRef} is gone`)
  const known = await findDisputeStatus(sql, providerId, id)
  const before = known === undefined ? -1 : rank[known]
  const isNews = known !== status && rank[status] >= before
  if (isNews) await saveDispute(sql, providerId, intentRef, dispute, now)
  // Money moves without a change of the status, too.
  await postDispute(work, intent, dispute)
  if (!isNews) return
  if (before < disputed && rank[status] >= disputed) await tell(work, 'payment.disputed', dispute)
  if (before < closed && rank[status] === closed) {
    await tell(work, 'payment.dispute_closed', dispute)
  }
}

async function tell(
  work: UnitOfWork,
  type: 'payment.disputed' | 'payment.dispute_closed',
  dispute: Dispute,
): Promise<void> {
  await recordEvent(work, type, {
    id: dispute.id,
    amount: Number(dispute.amountMinor),
    currency: dispute.currency.toLowerCase(),
    reason: dispute.reason,
    status: dispute.status,
    processor_dispute: dispute.id,
    processor_charge: dispute.chargeId,
    created: unixSeconds(dispute.createdAt),
  })
}
