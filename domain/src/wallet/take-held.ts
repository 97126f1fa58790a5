import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { allocateRemoval, sayInFlight } from './burn-order.ts'
import { listGrantsLeft, updateGrants } from './grants.ts'
import type { HeldCredits } from './hold-credits.ts'
import type { Wallet } from './repository.ts'
import { takeOut, type TakeOut } from './take-out.ts'

/**
 * Removes held credits from a wallet that the caller has locked, first from the grant `firstGrantRef` if given. Credits of earlier
 * usage stay with the grants that paid for it.
 */
export async function takeHeld(
  work: UnitOfWork,
  wallet: Wallet,
  { heldMicros, spentMicros }: HeldCredits,
  out: TakeOut,
  firstGrantRef?: string,
): Promise<Wallet> {
  const { sql, providerId } = work
  const before = await listGrantsLeft(sql, providerId, out.customerRef)
  const inFlightMicros = spentMicros - (wallet.grantedMicros - wallet.balanceMicros)
  const grants = sayInFlight(before, inFlightMicros)
  await updateGrants(sql, providerId, before, grants)
  return takeOut(work, wallet, grants, allocateRemoval(grants, heldMicros, firstGrantRef), out)
}
