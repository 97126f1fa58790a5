import type { OverridesVersion } from '@tollgate/domain/overrides/overrides'
import type { OverridesBody } from '@tollgate/schemas/http/overrides'

/** Returns the overrides as the API shows them. Undefined means that the customer never had any. */
export function overridesToHttp(current: OverridesVersion | undefined): OverridesBody {
  if (current === undefined) return { charges: [], usageLimits: [], prices: [] }
  const { charges, usageLimits, prices = [], since } = current
  return { charges: [...charges], usageLimits: [...usageLimits], prices: [...prices], since }
}
