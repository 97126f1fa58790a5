import type { Answer } from '../api/answers.ts'
import { formatCount } from '../formats/amounts.ts'

/** Leaves out the overrides, whose generated types differ between operations. No page shows them. */
export type Purchase = Omit<Answer<'listPurchasesByPage'>['purchases'][number], 'overrides'>

/** Returns the usage of the period as text: a line per charge of the plan, or one line for a plan without charges. */
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
