import { limitStates, type LimitState } from '../entitlements/charge-limits.ts'
import type { ChargedPeriod } from './read-charge-check.ts'

/** Returns the states of all charges by what the wallet has. Caps were checked before the credits were held. */
export function creditStates(
  now: ChargedPeriod,
  creditMicros: bigint,
  isHeld: boolean,
): LimitState[] {
  const charged = now.entitlement.charges.map((each) => ({ ...each, cap: null }))
  const entitlement = { ...now.entitlement, charges: charged, limits: [] }
  const check = { ...now, entitlement, meterName: undefined, usedByMeter: new Map(), creditMicros }
  return limitStates(check).map((state) => {
    if (isHeld) return { ...state, blocks: null }
    return state.charge?.debit === undefined ? state : { ...state, remaining: 0, blocks: 'credits' }
  })
}
