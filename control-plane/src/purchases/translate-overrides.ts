import type { OverridesVersion } from '@tollgate/domain/overrides/overrides'
import type { OverridesBody } from '@tollgate/schemas/http/overrides'

/** Returns the overrides as the API shows them. Undefined means that the customer never had any. */
export function overridesToHttp(current: OverridesVersion | undefined): OverridesBody {
  if (current === undefined) return { charges: [], usageLimits: [] }
  const { charges, usageLimits, since } = current
  return { charges: [...charges], usageLimits: [...usageLimits], since }
}
