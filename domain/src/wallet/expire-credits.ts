import { numberFromMicros } from '@tollgate/schemas/quantity'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import {
  inFlightOf,
  positionInOrder,
  restoreToGrants,
  removeFromGrants,
  assignInFlight,
} from './burn-order.ts'
import { correctInFlight, allocateHeld, type HeldGrant } from './held-grants.ts'
import {
  addExpiredMicros,
  endExpiry,
  lockActiveCustomer,
  listDueGrants,
  type DueGrant,
} from './expiring-grants.ts'
import { listOpenGrants, updateGrants, type CreditGrant } from './grants.ts'
import { removalsHeldMsMax, type HoldCredits } from './hold-credits.ts'
import { sha256OfInput } from '../money-ledger/ledger.ts'
import { lockWallet, type Wallet } from './repository.ts'
import { removeCredits } from './remove-credits.ts'

/**
 * Removes the remaining credits of a wallet's expired grants. Each grant's credits are held in hot state in one atomic step, whose
 * result is posted to the ledger. Credits that usage took from a grant before that step stay used, posted or not.
 *
 * After a crash before the commit, the next try finds the holds. After a crash after the commit, the publication is still queued
 * in PostgreSQL. A grant that has credits in flight is checked again later, in case they are released because the record was never
 * written. The wallet of a deleted customer stays unchanged.
 */
export async function expireCredits(
  work: UnitOfWork,
  customerRef: string,
  holdCredits: HoldCredits,
): Promise<void> {
  const { sql, providerId, now } = work
  if (!(await lockActiveCustomer(sql, providerId, customerRef))) {
    return await endExpiry(sql, providerId, customerRef)
  }
  const wallet = await lockWallet(sql, providerId, customerRef, now)
  const due = await listDueGrants(sql, providerId, customerRef, now)
  const before = await listOpenGrants(sql, providerId, customerRef)
  const hold = (...[sums, request]: HoldOfWallet) =>
    holdCredits({ ...work, customerRef }, sums, request)
  const { held, inFlightMicros } = await holdExpired(wallet, before, due, hold)
  await postExpiry(work, customerRef, wallet, before, held, inFlightMicros)
  await endExpiry(sql, providerId, customerRef, now)
}

type HoldOfWallet = Parameters<HoldCredits> extends [unknown, ...infer Rest] ? Rest : never

/** Holds the credits of the expired grants in the order of expiry. A hold for one grant does not count as usage of the next. */
async function holdExpired(
  wallet: Wallet,
  grants: readonly CreditGrant[],
  due: readonly DueGrant[],
  holdCredits: (...request: HoldOfWallet) => ReturnType<HoldCredits>,
): Promise<{ held: HeldGrant[]; inFlightMicros: bigint }> {
  const postedMicros = wallet.grantedMicros - wallet.balanceMicros
  const held: HeldGrant[] = []
  let inFlightMicros = 0n
  for (const { grantRef, expiredMicros } of due) {
    // The name of the hold changes only after an expiry of the grant was posted.
    const key = `expiry:${grantRef}:${expiredMicros}`
    const heldBefore = held.reduce((sum, { micros }) => sum + micros, 0n)
    const holdRest = async (line: readonly CreditGrant[]): Promise<bigint> => {
      const { freeMicros, endMicros } = positionInOrder(line, grantRef, postedMicros)
      const { heldMicros, spentMicros } = await holdCredits(wallet, {
        key,
        // If nothing is free, a hold of an earlier try may still have to be posted.
        micros: freeMicros > 0n ? freeMicros : 1n,
        upToMicros: freeMicros > 0n ? endMicros + heldBefore : 0n,
        takes: 'rest',
        heldMs: removalsHeldMsMax,
      })
      inFlightMicros = spentMicros - heldBefore - postedMicros
      return heldMicros
    }
    const line =
      held.length === 0
        ? grants
        : allocateHeld(correctInFlight(grants, held, inFlightMicros), held).line
    let micros = await holdRest(line)
    // Credits recorded as in flight may have been released because the usage was never recorded.
    if (micros === 0n && inFlightMicros < inFlightOf(line)) {
      micros = await holdRest(assignInFlight(line, inFlightMicros))
    }
    held.push({ grantRef, key, micros })
  }
  return { held, inFlightMicros }
}

async function postExpiry(
  work: UnitOfWork,
  customerRef: string,
  wallet: Wallet,
  before: readonly CreditGrant[],
  held: readonly HeldGrant[],
  inFlightMicros: bigint,
): Promise<void> {
  const { sql, providerId } = work
  const { line, burns } = allocateHeld(correctInFlight(before, held, inFlightMicros), held)
  let grants = restoreToGrants(assignInFlight(line, inFlightMicros), burns.flat())
  await updateGrants(sql, providerId, before, grants)
  let left = wallet
  for (const [index, { grantRef, key, micros }] of held.entries()) {
    if (micros === 0n) continue
    left = await removeCredits(work, left, grants, burns[index]!, {
      customerRef,
      kind: 'expiry',
      key,
      inputSha256: sha256OfInput([grantRef]),
      reason: null,
      to: 'breakage',
      moneyTo: 'breakage',
      result: { grantRef, credits: numberFromMicros(micros) },
    })
    grants = removeFromGrants(grants, burns[index]!)
    await addExpiredMicros(sql, providerId, grantRef, micros)
  }
}
