import type { Dispute } from '@tollgate/platform/payments/payment-objects'
import { postMoney } from '../money-ledger/post-money.ts'
import { disputeReinstated, disputeWithdrawn } from '../money-ledger/postings.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { claimCredits, undoClaim } from './claim-credits.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
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
  const { times, isTaken } = takingsOf(movements)
  // Each time is a claim of its own. All but the last came back, also where no look was had in between.
  for (let time = 1; time <= times; time += 1) {
    const reference = time > 1 ? `${disputeRef}:${time}` : disputeRef
    await claimCredits(work, intent, { reference, cause: 'dispute', amountMinor })
    if (time < times || !isTaken) await undoClaim(work, intent, reference)
  }
}

/** How often the money was taken that had been there, or was there again; and whether it is away now. */
function takingsOf(movements: Dispute['movements']): {
  readonly times: number
  readonly isTaken: boolean
} {
  let takenMinor = 0n
  let times = 0
  for (const { amountMinor } of movements) {
    const wasTaken = takenMinor > 0n
    takenMinor -= amountMinor
    if (!wasTaken && takenMinor > 0n) times += 1
  }
  return { times, isTaken: takenMinor > 0n }
}
