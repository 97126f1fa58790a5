import { decimalFromMicros, microsPerUnit } from '@tollgate/schemas/quantity'
import type { JsonObject } from '@tollgate/schemas/json-object'
import type { Money } from '../money-ledger/postings.ts'
import { generateReference } from '../unit-of-work/generate-reference.ts'
import { queuePublication, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { inFlightOf, assignInFlight } from './burn-order.ts'
import { recordCreditEvent, type CreditEvent } from './credit-event.ts'
import { insertGrant, listOpenGrants, updateGrants } from './grants.ts'
import { insertTransaction, type CreditAccount, type CreditKind } from '../money-ledger/ledger.ts'
import { spendableMicros, type HotWallet } from './read-wallet.ts'
import { updateWallet, type Wallet } from './repository.ts'

/**
 * Maximum of credits that one wallet is ever granted, in 10^-6, worth about 200 million dollars. It is less than half of what hot
 * state can sum and reserve at once.
 */
const grantedMicrosMax = 2_000_000_000_000n * BigInt(microsPerUnit)

export type CreditAddition = {
  readonly customerRef: string
  readonly amountMicros: bigint
  readonly kind: CreditKind
  readonly key: string
  readonly inputSha256: string
  readonly reason: string | null
  readonly from: CreditAccount
  readonly event: CreditEvent
  /** Price of the credits without tax. */
  readonly paid: Money | null
  readonly priority: number
  readonly expiresAt: Date | null
}

export type AddCreditsOutcome<Body> =
  | { readonly kind: 'added'; readonly body: Body }
  /** The total would exceed the maximum of credits that a wallet can be granted. */
  | { readonly kind: 'full'; readonly creditsMax: string }

/**
 * Adds credits to a wallet that the caller has locked. `hot` is the wallet in hot state just before. If it is undefined because it
 * could not be read, the returned balance is that of the ledger, where usage is posted later.
 */
export async function addCredits<Body extends JsonObject>(
  work: UnitOfWork,
  wallet: Wallet,
  hot: HotWallet | undefined,
  addition: CreditAddition,
  bodyOf: (leftMicros: bigint) => Body,
): Promise<AddCreditsOutcome<Body>> {
  const { sql, providerId, now } = work
  const { customerRef, amountMicros } = addition
  const grantedMicros = wallet.grantedMicros + amountMicros
  if (grantedMicros + wallet.removedMicros > grantedMicrosMax) {
    return { kind: 'full', creditsMax: decimalFromMicros(grantedMicrosMax) }
  }
  await storeInFlight(work, customerRef, wallet, hot)
  const balanceMicros = wallet.balanceMicros + amountMicros
  const left =
    hot === undefined
      ? balanceMicros
      : spendableMicros({
          grantedMicros,
          spentMicros: hot.spentMicros - unpublishedRemovals(wallet, hot),
        })
  const body = bodyOf(left)
  const reference = generateReference('transaction')
  await insertTransaction(sql, providerId, {
    ...addition,
    reference,
    result: body,
    createdAt: now,
    entries: [
      { account: 'wallet', amountMicros },
      { account: addition.from, amountMicros: -amountMicros },
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
  const { priority, expiresAt, paid } = addition
  const remainingMicros = amountMicros
  const grant = { reference, remainingMicros, priority, expiresAt, paid, createdAt: now }
  await insertGrant(sql, providerId, customerRef, grant)
  await recordCreditEvent(work, addition.event, {
    customerRef,
    balanceMicros,
    amountMicros,
    productRef: null,
  })
  await queuePublication(work, 'customer', customerRef)
  return { kind: 'added', body }
}

/**
 * Records which grants pay for unposted usage, before a new grant can change their order. Removals that are not published yet are
 * still held in hot state and are subtracted here. Hot state was read before the wallet was locked, so later usage may be missing.
 * That usage is posted to the first grant in the order.
 */
export async function storeInFlight(
  { sql, providerId }: UnitOfWork,
  customerRef: string,
  wallet: Wallet,
  hot: HotWallet | undefined,
): Promise<void> {
  if (hot === undefined) return
  const inFlightMicros = unpostedMicros(wallet, hot)
  if (inFlightMicros <= 0n) return
  const grants = await listOpenGrants(sql, providerId, customerRef)
  if (inFlightMicros <= inFlightOf(grants)) return
  await updateGrants(sql, providerId, grants, assignInFlight(grants, inFlightMicros))
}

/** Returns the usage of the wallet that is counted or held in hot state and not posted yet. Negative for unposted corrections. */
export function unpostedMicros(wallet: Wallet, hot: HotWallet): bigint {
  const postedMicros = wallet.grantedMicros - wallet.balanceMicros
  return hot.spentMicros - postedMicros - unpublishedRemovals(wallet, hot)
}

/** Removals that are not published yet: the ledger no longer has these credits, and hot state still holds them. */
function unpublishedRemovals(wallet: Wallet, hot: HotWallet): bigint {
  return wallet.removedMicros - hot.removedMicros
}
