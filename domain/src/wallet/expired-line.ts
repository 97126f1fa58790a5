import { allocateRemoval, inFlightOf, remove, sayInFlight, type Burn } from './burn-order.ts'
import type { CreditGrant } from './grants.ts'

/** What was held in the hot state for a grant that has expired. */
export type HeldGrant = {
  readonly grantRef: string
  /** Of the transaction, and of what is held for it. */
  readonly key: string
  readonly micros: bigint
}

/**
 * What was said to be in flight may be too much: it is no more than this. Where a grant has more held than is free of it,
 * an earlier try had held that, and somebody took it for usage of that very grant. Otherwise usage has come back.
 */
export function believed(
  grants: readonly CreditGrant[],
  held: readonly HeldGrant[],
  inFlightMicros: bigint,
): readonly CreditGrant[] {
  let tooMuch = inFlightOf(grants) - inFlightMicros
  if (tooMuch <= 0n) return grants
  const corrected = grants.map((grant) => {
    const own = held.find(({ grantRef }) => grantRef === grant.reference)?.micros ?? 0n
    const mistaken = own - (grant.remainingMicros - grant.inFlightMicros)
    const taken = smallest(mistaken, grant.inFlightMicros, tooMuch)
    if (taken <= 0n) return grant
    tooMuch -= taken
    return { ...grant, inFlightMicros: grant.inFlightMicros - taken }
  })
  return sayInFlight(corrected, inFlightMicros)
}

function smallest(...amounts: readonly bigint[]): bigint {
  return amounts.reduce((one, other) => (one < other ? one : other))
}

/**
 * The line without what is held, and where that is from. It is the grant's own, unless usage that came after an earlier
 * try has been posted to the grant since: then what that usage should have taken stands for it.
 */
export function setAside(
  grants: readonly CreditGrant[],
  held: readonly HeldGrant[],
): { line: readonly CreditGrant[]; burns: Burn[][] } {
  const burns: Burn[][] = []
  let line = grants
  for (const { grantRef, micros } of held) {
    const aside = allocateRemoval(line, micros, grantRef)
    burns.push(aside)
    line = remove(line, aside)
  }
  return { line, burns }
}
