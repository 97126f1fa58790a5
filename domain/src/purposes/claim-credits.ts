import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { withdrawalsOf } from '../payments/decide-dispute.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import {
  insertClaim,
  listClaims,
  markUndone,
  type TakeBack,
} from '../payments/take-backs-repository.ts'
import { claimedCredits, claimsAfterUndo, type BoughtCredits } from './decide-claims.ts'
import type { ReportedDispute, FinalRefund } from './payment-handler.ts'

/** Claims the credits that the refunded part of the payment had bought, or gives them back if the refund failed late. */
export async function claimRefundedCredits(
  work: UnitOfWork,
  intent: PaymentIntent,
  { id: reference, amountMinor, isReturned }: FinalRefund,
): Promise<void> {
  if (isReturned) await undoClaim(work, intent, reference)
  else await claimCredits(work, intent, { reference, cause: 'refund', amountMinor })
}

/** Claims the credits that the disputed money had bought, for as long as it is withdrawn. */
export async function claimDisputedCredits(
  work: UnitOfWork,
  intent: PaymentIntent,
  { id, amountMinor, movements }: ReportedDispute,
): Promise<void> {
  const { times, isTaken } = withdrawalsOf(movements)
  // Each withdrawal has its own claim. All but the last were reversed, even if no state in between was read.
  for (let time = 1; time <= times; time += 1) {
    const reference = time > 1 ? `${id}:${time}` : id
    await claimCredits(work, intent, { reference, cause: 'dispute', amountMinor })
    if (time < times || !isTaken) await undoClaim(work, intent, reference)
  }
}

/**
 * Claims the credits that the money had bought. A job debits them, because that needs hot state. If the reference already has a
 * claim, nothing changes. The caller has locked the payment.
 */
async function claimCredits(
  { sql, providerId, now }: UnitOfWork,
  intent: PaymentIntent,
  { reference, cause, amountMinor }: Pick<TakeBack, 'reference' | 'cause' | 'amountMinor'>,
): Promise<void> {
  const { reference: intentRef, customerRef } = intent
  // Without a purchase no credits were granted.
  if (intent.credits === null || intent.purchaseRef === null) return
  const others = await listClaims(sql, providerId, intentRef, reference)
  const credits = claimedCredits(boughtCreditsOf(intent), others, amountMinor)
  const claim = { reference, cause, intentRef, customerRef, amountMinor, credits }
  await insertClaim(sql, providerId, claim, now)
}

/**
 * Undoes a claim after its money came back, so its credits are given back. If other claims are entitled to more credits than they
 * have, the missing credits are claimed for them.
 */
async function undoClaim(
  { sql, providerId, now }: UnitOfWork,
  intent: PaymentIntent,
  reference: string,
): Promise<void> {
  const { reference: intentRef, customerRef } = intent
  if (!(await markUndone(sql, providerId, reference, now))) return
  const inForce = await listClaims(sql, providerId, intentRef, reference)
  const { undone, rest } = claimsAfterUndo(boughtCreditsOf(intent), inForce)
  for (const each of undone) await markUndone(sql, providerId, each, now)
  if (rest === undefined) return
  const others = { reference: `${reference}:others`, amountMinor: 0n, ...rest }
  await insertClaim(sql, providerId, { ...others, intentRef, customerRef }, now)
}

function boughtCreditsOf({
  credits,
  originalAmountMinor: amountMinor,
}: PaymentIntent): BoughtCredits {
  return { credits: credits ?? 0n, amountMinor }
}
