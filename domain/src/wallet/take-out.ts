import type { JsonObject } from '@tollgate/schemas/json-object'
import { drawReference } from '../unit-of-work/draw-reference.ts'
import { queuePublication, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { remove, type Burn } from './burn-order.ts'
import { insertBurns } from './burns.ts'
import { recordCreditEvent } from './credit-event.ts'
import { crossingsOf } from './crossings.ts'
import { valueEntries } from './credit-value.ts'
import { updateGrants, type CreditGrant } from './grants.ts'
import {
  insertTransaction,
  type CreditAccount,
  type CreditKind,
  type MoneyAccount,
} from '../money-ledger/ledger.ts'
import { updateWallet, type Wallet } from './repository.ts'
import { WarningLevels } from './warning-levels.ts'

export type TakeOut = {
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
 * Removes credits from a wallet that the caller has locked, other than by usage. The credits are held in hot state, and the
 * publication queued here removes them and ends the hold in one step. `grants` are the wallet's stored grants, `burns` the free
 * credits to remove.
 *
 * A crash before the commit leaves the hold. A crash after the commit leaves the publication in the queue, and the next process
 * makes it.
 */
export async function takeOut(
  work: UnitOfWork,
  wallet: Wallet,
  grants: readonly CreditGrant[],
  burns: readonly Burn[],
  out: TakeOut,
): Promise<Wallet> {
  const { sql, providerId, now } = work
  const { customerRef, kind } = out
  const amountMicros = burns.reduce((sum, { micros }) => sum + micros, 0n)
  const reference = drawReference('transaction')
  await insertTransaction(sql, providerId, {
    ...out,
    reference,
    createdAt: now,
    entries: [
      { account: 'wallet', amountMicros: -amountMicros },
      { account: out.to, amountMicros },
      ...valueEntries(grants, burns, out.moneyTo),
    ],
  })
  await updateGrants(sql, providerId, grants, remove(grants, burns))
  await insertBurns(sql, providerId, reference, burns)
  const after = {
    grantedMicros: wallet.grantedMicros - amountMicros,
    removedMicros: wallet.removedMicros + amountMicros,
    balanceMicros: wallet.balanceMicros - amountMicros,
  }
  await updateWallet(sql, providerId, customerRef, after, now)
  const warningMicros = await new WarningLevels().read(work, customerRef, null)
  const crossings = crossingsOf(wallet.balanceMicros, after.balanceMicros, warningMicros)
  const told = kind === 'expiry' ? crossings : (['adjusted', ...crossings] as const)
  for (const event of told) {
    const { balanceMicros } = after
    const movement = { customerRef, balanceMicros, amountMicros: -amountMicros, productRef: null }
    await recordCreditEvent(work, event, movement)
  }
  await queuePublication(work, 'customer', customerRef)
  return after
}
