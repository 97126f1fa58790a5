import type { Dispute } from '@tollgate/platform/payments/payment-objects'
import { postMoney } from '../money-ledger/post-money.ts'
import { disputeReinstated, disputeWithdrawn } from '../money-ledger/postings.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { claimCredits, undoClaim } from './claim-credits.ts'
import type { PaymentIntent } from './payment-intent.ts'
import { findPostedPayment } from './post-payment.ts'

/**
 * Posts what a dispute took of the processor's balance and gave back to it, each movement once, and claims the credits
 * that had been bought with it for as long as it is taken. A look of before knows of fewer movements, and undoes none.
 */
export async function postDispute(
  work: UnitOfWork,
  intent: PaymentIntent,
  { id: disputeRef, amountMinor, movements }: Dispute,
): Promise<void> {
  const { customerRef } = intent
  if (movements.length === 0) return
  if ((await findPostedPayment(work, intent)) !== undefined) {
    for (const { id: step, currency, amountMinor: moved, feeMinor } of movements) {
      const money = { customerRef, disputeRef, step, currency }
      await postMoney(
        work,
        moved < 0n
          ? disputeWithdrawn({ ...money, amountMinor: -moved, feeMinor })
          : disputeReinstated({ ...money, amountMinor: moved, feeMinor: -feeMinor }),
      )
    }
  }
  await claimCredits(work, intent, { reference: disputeRef, cause: 'dispute', amountMinor })
  const takenMinor = movements.reduce((sum, movement) => sum - movement.amountMinor, 0n)
  if (takenMinor <= 0n) await undoClaim(work, intent, disputeRef)
}
