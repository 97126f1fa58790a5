import { numberFromMicros } from '@tollgate/schemas/quantity'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { inFlightOf, placeOnLine, putBack, remove, sayInFlight } from './burn-order.ts'
import { believed, setAside, type HeldGrant } from './expired-line.ts'
import {
  addExpiredMicros,
  endExpiry,
  holdCustomer,
  listDueGrants,
  type DueGrant,
} from './expiring-grants.ts'
import { listGrantsLeft, updateGrants, type CreditGrant } from './grants.ts'
import { removalsHeldMsMax, type HoldCredits } from './hold-credits.ts'
import { sha256OfInput } from '../money-ledger/ledger.ts'
import { lockWallet, type Wallet } from './repository.ts'
import { takeOut } from './take-out.ts'

/**
 * Takes what is left of a wallet's grants that have expired: out of the hot state's wallet in one step each, of which the
 * ledger says what it was. What usage took of a grant before that step stays taken, posted or not.
 *
 * Killed before the commit, the next try finds what was held; killed behind it, the publication waits in PostgreSQL. A
 * grant that still has something in flight is looked at again later, in case that comes back: credits that were held for
 * a record that was never written. What a deleted customer had stays as it is.
 */
export async function expireCredits(
  work: UnitOfWork,
  customerRef: string,
  holdCredits: HoldCredits,
): Promise<void> {
  const { sql, providerId, now } = work
  if (!(await holdCustomer(sql, providerId, customerRef))) {
    return await endExpiry(sql, providerId, customerRef)
  }
  const wallet = await lockWallet(sql, providerId, customerRef, now)
  const due = await listDueGrants(sql, providerId, customerRef, now)
  const before = await listGrantsLeft(sql, providerId, customerRef)
  const hold = (...[sums, request]: HoldOfWallet) =>
    holdCredits({ ...work, customerRef }, sums, request)
  const { held, inFlightMicros } = await holdAll(wallet, before, due, hold)
  await post(work, customerRef, wallet, before, held, inFlightMicros)
  await endExpiry(sql, providerId, customerRef, now)
}

type HoldOfWallet = Parameters<HoldCredits> extends [unknown, ...infer Rest] ? Rest : never

/** In the order in which they expired. What is held for one of them is no usage that the next has paid for. */
async function holdAll(
  wallet: Wallet,
  grants: readonly CreditGrant[],
  due: readonly DueGrant[],
  holdCredits: (...request: HoldOfWallet) => ReturnType<HoldCredits>,
): Promise<{ held: HeldGrant[]; inFlightMicros: bigint }> {
  const postedMicros = wallet.grantedMicros - wallet.balanceMicros
  const held: HeldGrant[] = []
  let inFlightMicros = 0n
  for (const { grantRef, expiredMicros } of due) {
    // Only an expiry that was posted makes the next one another one.
    const key = `expiry:${grantRef}:${expiredMicros}`
    const heldBefore = held.reduce((sum, { micros }) => sum + micros, 0n)
    const holdRest = async (line: readonly CreditGrant[]): Promise<bigint> => {
      const { freeMicros, endMicros } = placeOnLine(line, grantRef, postedMicros)
      const { heldMicros, spentMicros } = await holdCredits(wallet, {
        key,
        // Where nothing is free, what an earlier try has held may still be to be posted.
        micros: freeMicros > 0n ? freeMicros : 1n,
        upToMicros: freeMicros > 0n ? endMicros + heldBefore : 0n,
        takes: 'rest',
        heldMs: removalsHeldMsMax,
      })
      inFlightMicros = spentMicros - heldBefore - postedMicros
      return heldMicros
    }
    const line =
      held.length === 0 ? grants : setAside(believed(grants, held, inFlightMicros), held).line
    let micros = await holdRest(line)
    // What was said to be in flight may have come back: usage that was never recorded.
    if (micros === 0n && inFlightMicros < inFlightOf(line)) {
      micros = await holdRest(sayInFlight(line, inFlightMicros))
    }
    held.push({ grantRef, key, micros })
  }
  return { held, inFlightMicros }
}

async function post(
  work: UnitOfWork,
  customerRef: string,
  wallet: Wallet,
  before: readonly CreditGrant[],
  held: readonly HeldGrant[],
  inFlightMicros: bigint,
): Promise<void> {
  const { sql, providerId } = work
  const { line, burns } = setAside(believed(before, held, inFlightMicros), held)
  let grants = putBack(sayInFlight(line, inFlightMicros), burns.flat())
  await updateGrants(sql, providerId, before, grants)
  let left = wallet
  for (const [index, { grantRef, key, micros }] of held.entries()) {
    if (micros === 0n) continue
    left = await takeOut(work, left, grants, burns[index]!, {
      customerRef,
      kind: 'expiry',
      key,
      inputSha256: sha256OfInput([grantRef]),
      reason: null,
      to: 'breakage',
      moneyTo: 'breakage',
      result: { grantRef, credits: numberFromMicros(micros) },
    })
    grants = remove(grants, burns[index]!)
    await addExpiredMicros(sql, providerId, grantRef, micros)
  }
}
