import type { Charge } from '@tollgate/schemas/http/charges'
import type { UsageLimit } from '@tollgate/schemas/http/usage-limits'
import { chargeKeyCharsMax } from '@tollgate/schemas/limits'

/**
 * Returns the stable name of a charge in its plan. Without one, it is the meter's name, in which other characters than those of a
 * key are replaced by `_`.
 */
export function chargeKey({ key, meter }: Pick<Charge, 'key' | 'meter'>): string {
  return key ?? meter.replaceAll(/[^A-Za-z0-9_:.-]/g, '_').slice(0, chargeKeyCharsMax)
}

/** Returns the stable name of a limit of a plan. */
export function usageLimitKey({ key, meter, per, rollingSeconds }: UsageLimit): string {
  if (key !== undefined) return key
  return chargeKey({
    meter: rollingSeconds === undefined ? `${meter}-${per}` : `${meter}-${rollingSeconds}s`,
  })
}
