import { numberFromMicros } from '@tollgate/schemas/quantity'
import { findTransactionRef } from '../money-ledger/ledger.ts'
import type { TakeBack } from '../payments/take-backs-repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { unpostedMicros } from '../wallet/add-credits.ts'
import { assignInFlight, inFlightOf, inBurnOrder, positionInOrder } from '../wallet/burn-order.ts'
import { listOpenGrants, listOpenGrantRefsUpTo, type CreditGrant } from '../wallet/grants.ts'
import { removalsHeldMsMax } from '../wallet/hold-credits.ts'
import type { HotWallet } from '../wallet/read-wallet.ts'
import { removeHeldCredits } from '../wallet/remove-credits.ts'
import type { Wallet } from '../wallet/repository.ts'
import { topUpKey } from '../wallet/top-up-credits.ts'
import { missingMicros, movementOf, retakeKey, type HotStateCredits } from './take-back-movement.ts'

/**
 * Takes credits back that were not available before: what is free in the payment's own grant and in the grants from before the
 * first attempt. The first attempt took all that was free in them, so what is free now has come back. Each grant's credits are held
 * up to the end of the grant in the order of use, so later grants are not touched. The caller has locked the wallet.
 *
 * Each grant has a posting of its own, with the next number. After a crash before the commit, the next try finds the hold of that
 * number. If nothing is left to take then, because usage was posted to these grants meanwhile, the hold is released.
 */
export async function retakeCredits(
  work: UnitOfWork,
  wallet: Wallet,
  row: TakeBack,
  hot: HotWallet | undefined,
  credits: HotStateCredits,
): Promise<TakeBack> {
  let state = { wallet, row }
  for (const grantRef of await listOlderGrants(work, row)) {
    if (missingMicros(state.row) === 0n) break
    state = await retakeFromGrant(work, state, grantRef, hot, credits)
  }
  if (state.row.retakes === row.retakes) {
    const { customerRef, reference, retakes } = row
    await credits.release({ ...work, customerRef }, retakeKey(reference, retakes + 1))
  }
  return state.row
}

/** Returns whether usage that is not posted yet may still return credits to grants from before the first attempt. */
export async function hasOlderGrants(work: UnitOfWork, row: TakeBack): Promise<boolean> {
  return (await listOlderGrants(work, row)).length > 0
}

type RetakeState = { readonly wallet: Wallet; readonly row: TakeBack }

async function retakeFromGrant(
  work: UnitOfWork,
  { wallet, row }: RetakeState,
  grantRef: string,
  hot: HotWallet | undefined,
  credits: HotStateCredits,
): Promise<RetakeState> {
  const { customerRef, cause, reference } = row
  const stored = await listOpenGrants(work.sql, work.providerId, customerRef)
  const grants = withoutReleased(stored, wallet, hot)
  const postedMicros = wallet.grantedMicros - wallet.balanceMicros
  const { freeMicros, endMicros } = positionInOrder(grants, grantRef, postedMicros)
  if (freeMicros === 0n) return { wallet, row }
  const key = retakeKey(reference, row.retakes + 1)
  const missing = missingMicros(row)
  const held = await credits.hold({ ...work, customerRef }, wallet, {
    key,
    micros: freeMicros < missing ? freeMicros : missing,
    upToMicros: endMicros,
    takes: 'rest',
    heldMs: removalsHeldMsMax,
  })
  if (held.heldMicros === 0n) return { wallet, row }
  const takenCredits = numberFromMicros(held.heldMicros)
  const reason = `${cause} ${reference}: ${takenCredits} credits came back`
  const removal = { ...movementOf(row, 'take_back', key), reason }
  const left = await removeHeldCredits(work, wallet, held, removal, grantRef)
  const takenMicros = (row.takenMicros ?? 0n) + held.heldMicros
  return { wallet: left, row: { ...row, takenMicros, retakes: row.retakes + 1 } }
}

/** Returns the grants without recorded usage that was released since, because its record was never written. */
function withoutReleased(
  grants: readonly CreditGrant[],
  wallet: Wallet,
  hot: HotWallet | undefined,
): readonly CreditGrant[] {
  if (hot === undefined) return grants
  const unposted = unpostedMicros(wallet, hot)
  const inFlightMicros = unposted > 0n ? unposted : 0n
  return inFlightMicros < inFlightOf(grants) ? assignInFlight(grants, inFlightMicros) : grants
}

/** Returns references of the open grants from before the first attempt: the payment's own, then the others in the order of use. */
async function listOlderGrants(
  { sql, providerId }: UnitOfWork,
  { customerRef, intentRef, grantsUpToId }: TakeBack,
): Promise<string[]> {
  const ownRef = await findTransactionRef(sql, providerId, topUpKey(intentRef))
  const which = { customerRef, upToId: grantsUpToId ?? 0n, ownRef }
  const older = await listOpenGrantRefsUpTo(sql, providerId, which)
  const grants = await listOpenGrants(sql, providerId, customerRef)
  const inOrder = inBurnOrder(grants).map(({ reference }) => reference)
  const others = inOrder.filter((reference) => older.has(reference) && reference !== ownRef)
  return ownRef !== undefined && older.has(ownRef) ? [ownRef, ...others] : others
}
