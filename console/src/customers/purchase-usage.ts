import type { Answer } from '../api/answers.ts'
import { formatCount } from '../formats/amounts.ts'

/** The generated types of overrides differ between a schema and an answer, and no page shows them. */
export type Purchase = Omit<Answer<'listPurchasesByPage'>['purchases'][number], 'overrides'>

/** Returns what the purchase used in its period: a line per charge of the plan, or one for a plan without charges. */
export function purchaseUsage({ usage, planSnapshot }: Purchase): readonly string[] {
  if (usage === undefined) return []
  const { charges } = usage
  if (charges === undefined) return [usedOf(usage.used, planSnapshot?.limit)]
  return charges.flatMap(({ displayName, meterName, used, cap }) =>
    used === undefined ? [] : [`${displayName ?? meterName}: ${usedOf(used, cap)}`],
  )
}

function usedOf(used: number, cap: number | undefined): string {
  return cap === undefined ? formatCount(used) : `${formatCount(used)} of ${formatCount(cap)}`
}
