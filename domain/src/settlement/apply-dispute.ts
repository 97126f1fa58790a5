import type { Dispute } from '@tollgate/platform/payments/payment-objects'
import { setRechargeCard, removeRechargeCard } from '../auto-recharge/repository.ts'
import { findReusablePaymentMethod } from '../cards/repository.ts'
import { lockCustomer } from '../customers/repository.ts'
import { scheduleUnpaidCharges } from '../invoices/unpaid.ts'
import { findMerchant } from '../merchants/repository.ts'
import { unixSeconds } from '../periods/periods.ts'
import { recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import {
  disputeRank,
  isNewerDispute,
  takesAccess,
  type StoredDispute,
} from '../payments/decide-dispute.ts'
import { findDispute, saveDispute } from '../payments/disputes-repository.ts'
import { lockIntent } from '../payments/intents-repository.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import type { ReportedDispute } from '../purposes/payment-handler.ts'
import { findHandler } from '../purposes/payment-handlers.ts'
import { postMoney } from '../money-ledger/post-money.ts'
import { disputeReinstated, disputeWithdrawn } from '../money-ledger/postings.ts'
import { findPostedPayment } from './post-payment.ts'
import { takeDisputedCredit } from './take-disputed-credit.ts'

const disputed = disputeRank.needs_response
const closed = disputeRank.won

/**
 * Stores the processor's state of a dispute, posts its movements and emits its events. A bank's inquiry alone emits no event. A
 * dispute that is first seen after it was closed emits two events: opened and closed.
 */
export async function applyDispute(
  work: UnitOfWork,
  intentRef: string,
  dispute: Dispute,
): Promise<void> {
  const { sql, providerId } = work
  const { id } = dispute
  // Orders concurrent updates of the dispute.
  const intent = await lockIntent(sql, providerId, intentRef)
  if (intent === undefined) throw new Error(`payment ${intentRef} is gone`)
  const known = await findDispute(sql, providerId, id)
  const isNewer = isNewerDispute(known, dispute)
  const takes = isNewer && (await storeDispute(work, intent, dispute))
  // Money can move without a change of the status.
  await postDispute(work, intent, dispute)
  if (isNewer) await emitDisputeEvents(work, known, dispute)
  const tookAccess = known?.takesAccess ?? false
  const isChanged = isNewer && takes !== tookAccess
  const access = isChanged ? (takes ? 'taken' : 'given-back') : 'unchanged'
  if (access !== 'unchanged') await updateCardUse(work, intent.customerRef, access)
  const handler = await findHandler(work, intent)
  await handler.onDisputed(work, intent, { ...dispute, access })
  await takeDisputedCredit(work, intent, dispute)
}

async function emitDisputeEvents(
  work: UnitOfWork,
  known: StoredDispute | undefined,
  dispute: Dispute,
): Promise<void> {
  const { status } = dispute
  const before = known === undefined ? -1 : disputeRank[known.status]
  if (before < disputed && disputeRank[status] >= disputed) {
    await emitDisputeEvent(work, 'payment.disputed', dispute)
  }
  if (disputeRank[status] === closed && known?.status !== status) {
    await emitDisputeEvent(work, 'payment.dispute_closed', dispute)
  }
}

/** Stops automatic charges of the customer's card, or starts them again. */
async function updateCardUse(
  work: UnitOfWork,
  customerRef: string,
  access: Exclude<ReportedDispute['access'], 'unchanged'>,
): Promise<void> {
  const { sql, providerId, now } = work
  await lockCustomer(sql, providerId, customerRef)
  const card = await findReusablePaymentMethod(sql, providerId, customerRef)
  if (access === 'taken') {
    if (card === undefined) await removeRechargeCard(work, customerRef)
    return
  }
  if (card === undefined) return
  await setRechargeCard(work, customerRef, card)
  await scheduleUnpaidCharges(sql, providerId, customerRef, now)
}

/** Stores the dispute. Returns whether it takes access away. */
async function storeDispute(
  { sql, providerId, now }: UnitOfWork,
  intent: PaymentIntent,
  dispute: Dispute,
): Promise<boolean> {
  const { suspendOnDispute } = await findMerchant(sql, providerId)
  const takes = takesAccess(dispute.status, suspendOnDispute ?? 'lost')
  const { reference: intentRef, paidMethodId, paymentMethodId } = intent
  const paidWith = paidMethodId ?? paymentMethodId
  const record = { intentRef, dispute, paymentMethodId: paidWith, takesAccess: takes }
  await saveDispute(sql, providerId, record, now)
  return takes
}

async function emitDisputeEvent(
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

/**
 * Posts what a dispute withdrew from the processor's balance and returned to it, each movement once. An older state of the dispute
 * has fewer movements and undoes none.
 */
async function postDispute(
  work: UnitOfWork,
  intent: PaymentIntent,
  { id: disputeRef, movements }: Dispute,
): Promise<void> {
  const { customerRef } = intent
  if (movements.length === 0) return
  if ((await findPostedPayment(work, intent)) === undefined) return
  for (const { id: step, amountMinor: moved, feeMinor, currency, restUnits } of movements) {
    const money = { customerRef, disputeRef, step, currency, restUnits }
    await postMoney(
      work,
      moved < 0n
        ? disputeWithdrawn({ ...money, amountMinor: -moved, feeMinor })
        : disputeReinstated({ ...money, amountMinor: moved, feeMinor: -feeMinor }),
    )
  }
}
