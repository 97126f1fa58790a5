import { createHash } from 'node:crypto'
import { microsPerUnit } from '@tollgate/schemas/quantity'
import type { CreditsAdjustedBody } from '@tollgate/schemas/http/credits'
import { lockCustomer } from '../customers/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { removalsHeldMsMax, type HoldCredits } from './hold-credits.ts'
import { findPostedTransaction, sha256OfInput } from '../money-ledger/ledger.ts'
import { addCredits } from './add-credits.ts'
import { spendableMicros, type HotWallet } from './read-wallet.ts'
import { lockWallet, type Wallet } from './repository.ts'
import { removeHeldCredits } from './remove-credits.ts'
import { wholeCredits } from '../money/whole-credits.ts'

export type AdjustmentRequest = {
  readonly customerRef: string
  /** Whole credits, not 0. Positive numbers add credits, negative numbers remove them. */
  readonly credits: number
  readonly reason: string
  /** The caller's idempotency key, or a random one for this call. */
  readonly idempotencyKey: string
}

export type AdjustmentOutcome =
  | { readonly kind: 'adjusted'; readonly body: CreditsAdjustedBody }
  /** The customer was deleted meanwhile. */
  | { readonly kind: 'customer-not-found' }
  /** The idempotency key was used with another request. */
  | { readonly kind: 'key-reused' }
  /** The wallet has fewer credits than were to be removed. `balance`: whole credits. */
  | { readonly kind: 'too-little'; readonly balance: number }
  /** The total would exceed the maximum of credits that a wallet can be granted. */
  | { readonly kind: 'full'; readonly creditsMax: string }

/**
 * Adjusts the credits of a wallet by hand. A repetition with the same idempotency key gets exactly the first response and changes
 * nothing. At most the unused credits are removed, and held credits count as used.
 */
export async function adjustCredits(
  work: UnitOfWork,
  adjustment: AdjustmentRequest,
  hot: HotWallet | undefined,
  holdCredits: HoldCredits,
): Promise<AdjustmentOutcome> {
  const { sql, providerId, now } = work
  const { customerRef, credits, reason } = adjustment
  const inputSha256 = sha256OfInput([customerRef, String(credits), reason])
  const key = `adjustment:${createHash('sha256').update(adjustment.idempotencyKey).digest('hex')}`
  if ((await lockCustomer(sql, providerId, customerRef)) === undefined) {
    return { kind: 'customer-not-found' }
  }
  const wallet = await lockWallet(sql, providerId, customerRef, now)
  const posted = await findPostedTransaction(sql, providerId, key)
  if (posted !== undefined) {
    if (posted.inputSha256 !== inputSha256) return { kind: 'key-reused' }
    return { kind: 'adjusted', body: posted.result as CreditsAdjustedBody }
  }
  const change = { customerRef, kind: 'adjustment', key, inputSha256, reason } as const
  const bodyOf = (left: bigint): CreditsAdjustedBody => {
    return { success: true, customerRef, credits, balance: wholeCredits(left), reason }
  }
  const amountMicros = BigInt(credits) * BigInt(microsPerUnit)
  if (amountMicros > 0n) {
    const from = { from: 'adjusted', event: 'adjusted', paid: null } as const
    const addition = { ...change, ...from, amountMicros, priority: 0, expiresAt: null }
    const outcome = await addCredits(work, wallet, hot, addition, bodyOf)
    return outcome.kind === 'added' ? { kind: 'adjusted', body: outcome.body } : outcome
  }
  return await removeByHand(work, wallet, -amountMicros, change, bodyOf, holdCredits)
}

async function removeByHand(
  work: UnitOfWork,
  wallet: Wallet,
  amountMicros: bigint,
  change: Pick<AdjustmentRequest, 'customerRef' | 'reason'> & {
    readonly kind: 'adjustment'
    readonly key: string
    readonly inputSha256: string
  },
  bodyOf: (leftMicros: bigint) => CreditsAdjustedBody,
  holdCredits: HoldCredits,
): Promise<AdjustmentOutcome> {
  const { customerRef, key } = change
  const { grantedMicros } = wallet
  if (grantedMicros === 0n) return { kind: 'too-little', balance: 0 }
  const held = await holdCredits({ ...work, customerRef }, wallet, {
    key,
    micros: amountMicros,
    upToMicros: undefined,
    takes: 'all',
    heldMs: removalsHeldMsMax,
  })
  const { heldMicros, spentMicros } = held
  if (heldMicros === 0n) {
    return {
      kind: 'too-little',
      balance: wholeCredits(spendableMicros({ grantedMicros, spentMicros })),
    }
  }
  // An earlier, unfinished try with this key asked for another amount.
  if (heldMicros !== amountMicros) return { kind: 'key-reused' }
  const left = spendableMicros({ grantedMicros: grantedMicros - amountMicros, spentMicros })
  const result = bodyOf(left)
  const removal = { ...change, to: 'adjusted', moneyTo: 'breakage', result } as const
  await removeHeldCredits(work, wallet, held, removal)
  return { kind: 'adjusted', body: result }
}
