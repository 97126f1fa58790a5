import { randomUUID } from 'node:crypto'
import { decimalFromMicros, microsPerUnit } from '@tollgate/schemas/quantity'
import type { CreditsGrantedBody } from '@tollgate/schemas/http/credits'
import { lockCustomer } from '../customers/repository.ts'
import { drawReference } from '../unit-of-work/draw-reference.ts'
import { queuePublication, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { recordCreditEvent } from './credit-event.ts'
import { insertGrant } from './grants.ts'
import { findPostedTransaction, insertTransaction, sha256OfInput } from './ledger.ts'
import { leftMicros } from './read-wallet.ts'
import { lockWallet, updateWallet } from './repository.ts'
import { wholeCredits } from './whole-credits.ts'

export type GrantRequest = {
  readonly customerRef: string
  /** Whole credits, more than none. */
  readonly credits: number
  readonly reason: string | undefined
}

export type GrantOutcome =
  | { readonly kind: 'granted'; readonly body: CreditsGrantedBody }
  /** The customer was deleted meanwhile. */
  | { readonly kind: 'customer-not-found' }
  /** The idempotency key was used with another request. */
  | { readonly kind: 'key-reused' }
  /** A wallet holds no more than this. */
  | { readonly kind: 'full'; readonly creditsMax: string }

/**
 * Credits that one wallet is ever given, in 10^-6: what the hot state can add up and reserve at once, less than half of
 * it. Some 200 million dollars.
 */
const grantedMicrosMax = 2_000_000_000_000n * BigInt(microsPerUnit)

/**
 * Puts credits into a wallet. A repetition of the caller's idempotency key is answered as the first call was, to the
 * letter, and puts nothing in.
 *
 * `spentMicros` is what usage has taken up to now by the hot state, where the ledger learns of it later; undefined where
 * that cannot be said, and then the answer goes by the ledger.
 */
export async function grantCredits(
  work: UnitOfWork,
  { customerRef, credits, reason }: GrantRequest,
  spentMicros: bigint | undefined,
): Promise<GrantOutcome> {
  const { sql, providerId, now, idempotencyKey } = work
  const inputSha256 = sha256OfInput([customerRef, String(credits), reason ?? null])
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

  const amountMicros = BigInt(credits) * BigInt(microsPerUnit)
  const grantedMicros = wallet.grantedMicros + amountMicros
  if (grantedMicros > grantedMicrosMax) {
    return { kind: 'full', creditsMax: decimalFromMicros(grantedMicrosMax) }
  }
  const balanceMicros = wallet.balanceMicros + amountMicros
  const left =
    spentMicros === undefined ? balanceMicros : leftMicros({ grantedMicros, spentMicros })
  const body: CreditsGrantedBody = {
    success: true,
    customerRef,
    credits,
    balance: wholeCredits(left),
    ...(reason === undefined ? {} : { reason }),
  }
  const reference = drawReference('transaction')
  await insertTransaction(sql, providerId, {
    reference,
    kind: 'grant',
    key,
    inputSha256,
    customerRef,
    reason: reason ?? null,
    result: body,
    createdAt: now,
    entries: [
      { account: 'wallet', amountMicros },
      { account: 'granted', amountMicros: -amountMicros },
    ],
  })
  await updateWallet(sql, providerId, customerRef, { grantedMicros, balanceMicros }, now)
  await insertGrant(sql, providerId, customerRef, {
    reference,
    remainingMicros: amountMicros,
    priority: 0,
    expiresAt: null,
    createdAt: now,
  })
  await recordCreditEvent(work, 'granted', {
    customerRef,
    balanceMicros,
    amountMicros,
    productRef: null,
  })
  await queuePublication(work, 'customer', customerRef)
  return { kind: 'granted', body }
}
