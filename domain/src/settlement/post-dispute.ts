import type { Dispute } from '@tollgate/platform/payments/payment-objects'
import { postMoney } from '../money-ledger/post-money.ts'
import { disputeReinstated, disputeWithdrawn } from '../money-ledger/postings.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import { findPostedPayment } from './post-payment.ts'

/**
 * Posts what a dispute withdrew from the processor's balance and returned to it, each movement once. An older state of the dispute
 * has fewer movements and undoes none.
 */
export async function postDispute(
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
