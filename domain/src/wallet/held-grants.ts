import {
  allocateRemoval,
  inFlightOf,
  removeFromGrants,
  assignInFlight,
  type Burn,
} from './burn-order.ts'
import type { CreditGrant } from './grants.ts'

/** Credits held in hot state for an expired grant. */
export type HeldGrant = {
  readonly grantRef: string
  /** Key of the transaction and of its hold. */
  readonly key: string
  readonly micros: bigint
}

/**
 * Corrects the recorded credits in flight if they exceed `inFlightMicros`. If a grant has fewer free credits than are held for it,
 * an earlier attempt already recorded the hold as in-flight usage of this grant. Any other excess is usage that was released.
 */
export function correctInFlight(
  grants: readonly CreditGrant[],
  held: readonly HeldGrant[],
  inFlightMicros: bigint,
): readonly CreditGrant[] {
  let excess = inFlightOf(grants) - inFlightMicros
  if (excess <= 0n) return grants
  const corrected = grants.map((grant) => {
    const own = held.find(({ grantRef }) => grantRef === grant.reference)?.micros ?? 0n
    const mistaken = own - (grant.remainingMicros - grant.inFlightMicros)
    const taken = smallest(mistaken, grant.inFlightMicros, excess)
    if (taken <= 0n) return grant
    excess -= taken
    return { ...grant, inFlightMicros: grant.inFlightMicros - taken }
  })
  return assignInFlight(corrected, inFlightMicros)
}

function smallest(...amounts: readonly bigint[]): bigint {
  return amounts.reduce((one, other) => (one < other ? one : other))
}

/**
 * Returns the grants without the held credits, and the debits of each hold. Each hold is debited from its own grant, even though
 * that grant has expired. If later usage was posted to that grant since an earlier attempt, the rest of the hold is debited from the
 * grants that this usage should have used.
 */
export function allocateHeld(
  grants: readonly CreditGrant[],
  held: readonly HeldGrant[],
): { line: readonly CreditGrant[]; burns: Burn[][] } {
  const burns: Burn[][] = []
  let remaining = grants
  for (const { grantRef, micros } of held) {
    const allocated = allocateRemoval(remaining, micros, grantRef)
    burns.push(allocated)
    remaining = removeFromGrants(remaining, allocated)
  }
  return { line: remaining, burns }
}
