import { randomUUID } from 'node:crypto'
import { microsPerUnit } from '@tollgate/schemas/quantity'
import type { CreditsGrantedBody } from '@tollgate/schemas/http/credits'
import { lockCustomer } from '../customers/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { findPostedTransaction, sha256OfInput } from '../money-ledger/ledger.ts'
import { addCredits } from './add-credits.ts'
import type { HotWallet } from './read-wallet.ts'
import { lockWallet } from './repository.ts'
import { wholeCredits } from '../money/whole-credits.ts'

export type GrantRequest = {
  readonly customerRef: string
  /** Whole credits, at least 1. */
  readonly credits: number
  readonly reason: string | undefined
  /** When the credits expire; undefined for never. */
  readonly expiresAt?: Date | undefined
  /** The grant with the smallest number is used first. Default 0. */
  readonly priority?: number | undefined
}

export type GrantOutcome =
  | { readonly kind: 'granted'; readonly body: CreditsGrantedBody }
  /** The customer was deleted meanwhile. */
  | { readonly kind: 'customer-not-found' }
  /** The idempotency key was used with another request. */
  | { readonly kind: 'key-reused' }
  /** The credits would expire before they can be used. */
  | { readonly kind: 'expired' }
  /** The total would exceed the maximum of credits that a wallet can be granted. */
  | { readonly kind: 'full'; readonly creditsMax: string }

/**
 * Grants credits to a wallet. A repetition with the same idempotency key gets exactly the first response and grants nothing. `hot`
 * is the wallet in hot state; undefined if it could not be read.
 */
export async function grantCredits(
  work: UnitOfWork,
  grant: GrantRequest,
  hot: HotWallet | undefined,
): Promise<GrantOutcome> {
  const { sql, providerId, now, idempotencyKey } = work
  const { customerRef, credits, reason, expiresAt, priority } = grant
  const inputSha256 = inputOf(grant)
  const key = `grant:${idempotencyKey ?? randomUUID()}`
  if ((await lockCustomer(sql, providerId, customerRef)) === undefined) {
    return { kind: 'customer-not-found' }
  }
  const wallet = await lockWallet(sql, providerId, customerRef, now)
  const posted = await findPostedTransaction(sql, providerId, key)
  if (posted !== undefined) {
    if (posted.inputSha256 !== inputSha256) return { kind: 'key-reused' }
    return { kind: 'granted', body: posted.result as CreditsGrantedBody }
  }
  if (expiresAt !== undefined && expiresAt <= now) return { kind: 'expired' }
  const addition = {
    customerRef,
    amountMicros: BigInt(credits) * BigInt(microsPerUnit),
    kind: 'grant',
    key,
    inputSha256,
    reason: reason ?? null,
    from: 'granted',
    event: 'granted',
    paid: null,
    priority: priority ?? 0,
    expiresAt: expiresAt ?? null,
  } as const
  const outcome = await addCredits(work, wallet, hot, addition, (left): CreditsGrantedBody => ({
    success: true,
    customerRef,
    credits,
    balance: wholeCredits(left),
    ...(reason === undefined ? {} : { reason }),
    ...(expiresAt === undefined ? {} : { expiresAt: expiresAt.toISOString() }),
    ...(priority === undefined ? {} : { priority }),
  }))
  return outcome.kind === 'added' ? { kind: 'granted', body: outcome.body } : outcome
}

/** Omits expiry and priority if they are absent, so that keys from before these parameters existed still match. */
function inputOf({ customerRef, credits, reason, expiresAt, priority }: GrantRequest): string {
  const input = [customerRef, String(credits), reason ?? null]
  if (expiresAt !== undefined || priority !== undefined) {
    input.push(expiresAt?.toISOString() ?? null, priority?.toString() ?? null)
  }
  return sha256OfInput(input)
}
