import type { JsonObject } from '@tollgate/schemas/json-object'
import { generateReference } from '../unit-of-work/generate-reference.ts'
import { queuePublication, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { allocateRemoval, assignInFlight, removeFromGrants, type Burn } from './burn-order.ts'
import { insertBurns } from './burns.ts'
import { recordCreditEvent } from './credit-event.ts'
import { recordWalletCrossings, WalletAlerts } from '../alerts/wallet-alerts.ts'
import { crossedThresholds } from './balance-thresholds.ts'
import { valueEntries } from './credit-value.ts'
import { listOpenGrants, updateGrants, type CreditGrant } from './grants.ts'
import type { HeldCredits } from './hold-credits.ts'
import {
  insertTransaction,
  type CreditAccount,
  type CreditKind,
  type MoneyAccount,
} from '../money-ledger/ledger.ts'
import { updateWallet, type Wallet } from './repository.ts'
import { WarningLevels } from './warning-levels.ts'

export type CreditRemoval = {
  readonly customerRef: string
  readonly kind: CreditKind
  /** Key of the transaction and of its hold in hot state. */
  readonly key: string
  readonly inputSha256: string
  readonly reason: string | null
  readonly to: CreditAccount
  /** Account that gets the paid value of the credits. */
  readonly moneyTo: MoneyAccount
  readonly result: JsonObject
}

/**
 * Removes held credits from a wallet that the caller has locked, first from the grant `firstGrantRef` if given. Credits of earlier
 * usage stay with the grants that paid for it.
 */
export async function removeHeldCredits(
  work: UnitOfWork,
  wallet: Wallet,
  { heldMicros, spentMicros }: HeldCredits,
  removal: CreditRemoval,
  firstGrantRef?: string,
): Promise<Wallet> {
  const { sql, providerId } = work
  const before = await listOpenGrants(sql, providerId, removal.customerRef)
  const inFlightMicros = spentMicros - (wallet.grantedMicros - wallet.balanceMicros)
  const grants = assignInFlight(before, inFlightMicros)
  await updateGrants(sql, providerId, before, grants)
  return removeCredits(
    work,
    wallet,
    grants,
    allocateRemoval(grants, heldMicros, firstGrantRef),
    removal,
  )
}

/**
 * Removes credits from a wallet that the caller has locked, other than by usage. The credits are held in hot state, and the
 * publication queued here removes them and ends the hold in one step. `grants` are the wallet's stored grants, `burns` the free
 * credits to remove.
 *
 * A crash before the commit leaves the hold. A crash after the commit leaves the publication in the queue, and the next process
 * makes it.
 */
export async function removeCredits(
  work: UnitOfWork,
  wallet: Wallet,
  grants: readonly CreditGrant[],
  burns: readonly Burn[],
  removal: CreditRemoval,
): Promise<Wallet> {
  const { sql, providerId, now } = work
  const { customerRef, kind } = removal
  const amountMicros = burns.reduce((sum, { micros }) => sum + micros, 0n)
  const reference = generateReference('transaction')
  await insertTransaction(sql, providerId, {
    ...removal,
    reference,
    createdAt: now,
    entries: [
      { account: 'wallet', amountMicros: -amountMicros },
      { account: removal.to, amountMicros },
      ...valueEntries(grants, burns, removal.moneyTo),
    ],
  })
  await updateGrants(sql, providerId, grants, removeFromGrants(grants, burns))
  await insertBurns(sql, providerId, reference, burns)
  const after = {
    grantedMicros: wallet.grantedMicros - amountMicros,
    removedMicros: wallet.removedMicros + amountMicros,
    balanceMicros: wallet.balanceMicros - amountMicros,
  }
  await updateWallet(sql, providerId, customerRef, after, now)
  const warningMicros = await new WarningLevels().read(work, customerRef, null)
  const crossings = crossedThresholds(wallet.balanceMicros, after.balanceMicros, warningMicros)
  const events = kind === 'expiry' ? crossings : (['adjusted', ...crossings] as const)
  for (const event of events) {
    const { balanceMicros } = after
    const movement = { customerRef, balanceMicros, amountMicros: -amountMicros, productRef: null }
    await recordCreditEvent(work, event, movement)
  }
  const alert = await new WalletAlerts().read(work, customerRef)
  const [beforeMicros, afterMicros] = [wallet.balanceMicros, after.balanceMicros]
  await recordWalletCrossings(work, alert, { customerRef, beforeMicros, afterMicros })
  await queuePublication(work, 'customer', customerRef)
  return after
}
