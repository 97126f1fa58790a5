import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import { microsFromNumber } from '@tollgate/schemas/quantity'
import type { Plan, PlanTerms } from '../plans/plan.ts'

type Termed = { readonly terms: Pick<PlanTerms, 'pack'> }

/** Returns whether the plan is a pack, which stands beside the running plan of its product. */
export function isPack(plan: Termed | null): boolean {
  return plan?.terms.pack !== undefined
}

/** Returns whether the plan is paid once and stands alone, so that buying it again replaces it. */
export function isBoughtOnce(plan: Termed & Pick<Plan, 'type'>): boolean {
  return plan.type === 'one-time' && !isPack(plan)
}

/** Returns the meter of a pack and its units, 10^-6. Undefined for any other plan. */
export function unitsOfPack({
  terms: { pack },
}: Termed): { readonly meterName: string; readonly unitsMicros: bigint } | undefined {
  if (pack === undefined) return undefined
  const { meter: meterName = requestsMeterName, units } = pack
  return { meterName, unitsMicros: BigInt(microsFromNumber(units)!) }
}
