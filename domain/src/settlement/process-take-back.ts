import { microsPerUnit, numberFromMicros } from '@tollgate/schemas/quantity'
import { lockCustomer } from '../customers/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { listBurnsOf } from '../wallet/burns.ts'
import { removalsHeldMsMax, type HoldCredits } from '../wallet/hold-credits.ts'
import { findTransactionRef, readLastTransactionId } from '../money-ledger/ledger.ts'
import { restoreCredits } from '../wallet/restore-credits.ts'
import type { HotWallet } from '../wallet/read-wallet.ts'
import { lockWallet, type Wallet } from '../wallet/repository.ts'
import { removeHeldCredits } from '../wallet/remove-credits.ts'
import { topUpKey } from '../wallet/top-up-credits.ts'
import {
  lockTakeBack,
  saveTakeBackResult,
  type TakeBack,
  type TakeBackName,
} from '../payments/take-backs-repository.ts'
import { hasOlderGrants, retakeCredits } from './retake-credits.ts'
import {
  missingMicros,
  movementOf,
  takeBackKeys,
  type HotStateCredits,
} from './take-back-movement.ts'

/**
 * Takes credits back or gives them back, whichever is still to be done. The wallet never becomes negative: used credits stay used,
 * and their refunded value stays in the refunds account. Credits of the payment's own grant are taken first, then others, because a
 * wallet is one balance. The wallet of a deleted customer stays unchanged.
 *
 * If too few credits were available, later attempts take credits that come back to grants from before the first attempt: those of
 * corrected usage, of released holds, and of other refunds that failed. Credits that are added later stay with the customer. While
 * usage of these grants is not posted, it may still be released, so the take-back stays due.
 *
 * After a crash before the commit, the next try finds the hold by its name, and releases it if it is no longer wanted.
 */
export async function processTakeBack(
  work: UnitOfWork,
  { reference, customerRef }: TakeBackName,
  hot: HotWallet | undefined,
  credits: HotStateCredits,
): Promise<void> {
  const { sql, providerId, now } = work
  const customer = await lockCustomer(sql, providerId, customerRef)
  const wallet = customer && (await lockWallet(sql, providerId, customerRef, now))
  const row = await lockTakeBack(sql, providerId, reference)
  if (row === undefined) throw new Error(`take-back ${reference} does not exist`)
  const settled =
    wallet === undefined ? row : await executeTakeBack(work, wallet, row, hot, credits)
  const isTriedAgain =
    wallet !== undefined && missingMicros(settled) > 0n && (await hasOlderGrants(work, settled))
  await saveTakeBackResult(sql, providerId, settled, isTriedAgain, now)
}

async function executeTakeBack(
  work: UnitOfWork,
  wallet: Wallet,
  row: TakeBack,
  hot: HotWallet | undefined,
  credits: HotStateCredits,
): Promise<TakeBack> {
  const name = { ...work, customerRef: row.customerRef }
  const [firstKey, ...otherKeys] = takeBackKeys(row)
  if (row.takenMicros === null) {
    const grantsUpToId = await readLastTransactionId(work.sql, work.providerId)
    const isWanted = !row.isUndone && row.credits > 0n && wallet.grantedMicros > 0n
    const takenMicros = isWanted ? await takeCreditsBack(work, wallet, row, credits.hold) : 0n
    if (!isWanted) await credits.release(name, firstKey)
    return { ...row, takenMicros, grantsUpToId }
  }
  if (!row.isUndone) return retakeCredits(work, wallet, row, hot, credits)
  if (row.isGivenBack) return row
  // An attempt that crashed before its commit may have left the hold of the next posting.
  await credits.release(name, otherKeys.at(-1)!)
  if (row.takenMicros > 0n) await returnCredits(work, wallet, row, hot)
  return { ...row, isGivenBack: true }
}

async function takeCreditsBack(
  work: UnitOfWork,
  wallet: Wallet,
  row: TakeBack,
  holdCredits: HoldCredits,
): Promise<bigint> {
  const { customerRef, credits, cause, reference } = row
  const [key] = takeBackKeys(row)
  const wantedMicros = credits * BigInt(microsPerUnit)
  const held = await holdCredits({ ...work, customerRef }, wallet, {
    key,
    micros: wantedMicros,
    upToMicros: undefined,
    takes: 'rest',
    heldMs: removalsHeldMsMax,
  })
  if (held.heldMicros === 0n) return 0n
  const isUsed = held.heldMicros < wantedMicros
  const takenCredits = numberFromMicros(held.heldMicros)
  const reason = `${cause} ${reference}${isUsed ? `: ${takenCredits} of ${credits} credits were left` : ''}`
  const ownGrantRef = await findTransactionRef(work.sql, work.providerId, topUpKey(row.intentRef))
  await removeHeldCredits(
    work,
    wallet,
    held,
    { ...movementOf(row, 'take_back', key), reason },
    ownGrantRef,
  )
  return held.heldMicros
}

async function returnCredits(
  work: UnitOfWork,
  wallet: Wallet,
  row: TakeBack,
  hot: HotWallet | undefined,
): Promise<void> {
  const { cause, reference } = row
  const burns = await listBurnsOf(work.sql, work.providerId, takeBackKeys(row))
  const reason = cause === 'refund' ? `refund ${reference} failed` : `dispute ${reference} was won`
  const back = { ...movementOf(row, 'give_back', `give-back:${reference}`), reason }
  await restoreCredits(work, wallet, hot, burns, back)
}
