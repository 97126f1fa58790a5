import { decimalFromMicros, microsPerUnit } from '@tollgate/schemas/quantity'
import type { JsonObject } from '@tollgate/schemas/json-object'
import type { Money } from '../money-ledger/postings.ts'
import { drawReference } from '../unit-of-work/draw-reference.ts'
import { queuePublication, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { inFlightOf, sayInFlight } from './burn-order.ts'
import { recordCreditEvent, type CreditEvent } from './credit-event.ts'
import { insertGrant, listGrantsLeft, updateGrants } from './grants.ts'
import { insertTransaction, type CreditAccount, type CreditKind } from '../money-ledger/ledger.ts'
import { spendableMicros, type HotWallet } from './read-wallet.ts'
import { updateWallet, type Wallet } from './repository.ts'

/**
 * Credits that one wallet is ever given, in 10^-6: what the hot state can add up and reserve at once, less than half of
 * it. Some 200 million dollars.
 */
const grantedMicrosMax = 2_000_000_000_000n * BigInt(microsPerUnit)

export type PutIn = {
  readonly customerRef: string
  readonly amountMicros: bigint
  readonly kind: CreditKind
  readonly key: string
  readonly inputSha256: string
  readonly reason: string | null
  readonly from: CreditAccount
  readonly event: CreditEvent
  /** What was paid for them, without tax. */
  readonly paid: Money | null
  readonly priority: number
  readonly expiresAt: Date | null
}

export type PutInOutcome<Body> =
  | { readonly kind: 'put-in'; readonly body: Body }
  /** A wallet is given no more than this in all. */
  | { readonly kind: 'full'; readonly creditsMax: string }

/**
 * Puts credits into a wallet that the caller has locked. `hot` is the wallet as the hot state had it just before;
 * undefined where that could not be said, and then the balance that is told goes by the ledger, which learns of usage
 * later.
 */
export async function putIn<Body extends JsonObject>(
  work: UnitOfWork,
  wallet: Wallet,
  hot: HotWallet | undefined,
  put: PutIn,
  tell: (leftMicros: bigint) => Body,
): Promise<PutInOutcome<Body>> {
  const { sql, providerId, now } = work
  const { customerRef, amountMicros } = put
  const grantedMicros = wallet.grantedMicros + amountMicros
  if (grantedMicros + wallet.removedMicros > grantedMicrosMax) {
    return { kind: 'full', creditsMax: decimalFromMicros(grantedMicrosMax) }
  }
  await sayWhatIsInFlight(work, customerRef, wallet, hot)
  const balanceMicros = wallet.balanceMicros + amountMicros
  const left =
    hot === undefined
      ? balanceMicros
      : spendableMicros({ grantedMicros, spentMicros: hot.spentMicros - pendingOf(wallet, hot) })
  const body = tell(left)
  const reference = drawReference('transaction')
  await insertTransaction(sql, providerId, {
    ...put,
    reference,
    result: body,
    createdAt: now,
    entries: [
      { account: 'wallet', amountMicros },
      { account: put.from, amountMicros: -amountMicros },
    ],
  })
  const { removedMicros } = wallet
  await updateWallet(
    sql,
    providerId,
    customerRef,
    { grantedMicros, removedMicros, balanceMicros },
    now,
  )
  const { priority, expiresAt, paid } = put
  const remainingMicros = amountMicros
  const made = { reference, remainingMicros, priority, expiresAt, paid, createdAt: now }
  await insertGrant(sql, providerId, customerRef, made)
  await recordCreditEvent(work, put.event, {
    customerRef,
    balanceMicros,
    amountMicros,
    productRef: null,
  })
  await queuePublication(work, 'customer', customerRef)
  return { kind: 'put-in', body }
}

/**
 * Before a new grant may come ahead of the others: what usage has taken of these by now stays taken of these. What was
 * taken out otherwise and is not published yet is held, so it is among what is spent. The hot state was asked before the
 * wallet was locked, and may say too little by now: then what it does not say is posted to whichever grant is first.
 */
export async function sayWhatIsInFlight(
  { sql, providerId }: UnitOfWork,
  customerRef: string,
  wallet: Wallet,
  hot: HotWallet | undefined,
): Promise<void> {
  if (hot === undefined) return
  const postedMicros = wallet.grantedMicros - wallet.balanceMicros
  const inFlightMicros = hot.spentMicros - postedMicros - pendingOf(wallet, hot)
  if (inFlightMicros <= 0n) return
  const grants = await listGrantsLeft(sql, providerId, customerRef)
  if (inFlightMicros <= inFlightOf(grants)) return
  await updateGrants(sql, providerId, grants, sayInFlight(grants, inFlightMicros))
}

/** What was taken out and is not published yet: the ledger has it no more, and the hot state still holds it. */
function pendingOf(wallet: Wallet, hot: HotWallet): bigint {
  return wallet.removedMicros - hot.removedMicros
}
