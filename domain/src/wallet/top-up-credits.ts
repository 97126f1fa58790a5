import { microsPerUnit } from '@tollgate/schemas/quantity'
import type { Money } from '../money-ledger/postings.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { sha256OfInput } from '../money-ledger/ledger.ts'
import { addCredits } from './add-credits.ts'
import { retryShortTakeBacks } from '../payments/take-backs-repository.ts'
import { lockWallet } from './repository.ts'

export type TopUp = {
  readonly customerRef: string
  /** Whole credits, at least 1. */
  readonly credits: bigint
  /** Price of the credits without tax. */
  readonly paid: Money
  /** Reference of the payment that bought the credits. A second top-up of one payment breaks a unique constraint. */
  readonly paymentRef: string
}

/**
 * Adds purchased credits to the wallet. The caller has locked the customer. `full`: the total would exceed the maximum of credits
 * that a wallet can be granted.
 */
export async function topUpCredits(
  work: UnitOfWork,
  { customerRef, credits, paid, paymentRef }: TopUp,
): Promise<'topped-up' | 'full'> {
  const { sql, providerId, now } = work
  const wallet = await lockWallet(sql, providerId, customerRef, now)
  const addition = {
    customerRef,
    amountMicros: credits * BigInt(microsPerUnit),
    kind: 'top_up',
    key: topUpKey(paymentRef),
    inputSha256: sha256OfInput([customerRef, credits.toString()]),
    reason: null,
    from: 'purchased',
    event: 'topped_up',
    paid,
    priority: 0,
    expiresAt: null,
  } as const
  const outcome = await addCredits(work, wallet, undefined, addition, () => ({
    payment: paymentRef,
  }))
  if (outcome.kind === 'full') return 'full'
  // The payment may have been refunded before its credits were added.
  await retryShortTakeBacks(sql, providerId, customerRef, now)
  return 'topped-up'
}

/** Returns the key of the transaction, and so of the grant, that a payment bought. */
export function topUpKey(paymentRef: string): string {
  return `top-up:${paymentRef}`
}
