import type { Charge } from '@tollgate/schemas/http/charges'
import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import type { UsageLimit } from '@tollgate/schemas/http/usage-limits'
import { fieldFault } from '../plans/field-fault.ts'
import { chargesOfLimit, unitsOfLimit } from '../plans/spend-limit.ts'

/**
 * Returns why a limit cannot be in credits or money. It counts units of its meter, so each unit must have the same price whatever else
 * is used.
 */
export function spendLimitFaults(limit: UsageLimit, charges: readonly Charge[]): ValidationIssue[] {
  const { unit, meter } = limit
  if (unit === undefined || unit === 'units') return []
  const [charge, another] = chargesOfLimit(limit, charges)
  const field = unit === 'money' ? 'price' : 'creditsPerUnit'
  if (charge === undefined) {
    return [fieldFault(['unit'], `No charge of the meter ${meter} has a \`${field}\`.`)]
  }
  if (another !== undefined) {
    const message = `The meter ${meter} has several charges with a \`${field}\`. Limit its units.`
    return [fieldFault(['unit'], message)]
  }
  if ((charge.model !== 'per_unit' && charge.model !== 'package') || charge.where !== undefined) {
    const message = `What a unit of ${meter} costs depends on other usage or on dimensions. Only \`per_unit\` and \`package\` without \`where\` can be limited by an amount.`
    return [fieldFault(['unit'], message)]
  }
  const units = unitsOfLimit(limit, charges)
  if (units === null) return [fieldFault(['unit'], `Units of the meter ${meter} cost nothing.`)]
  if (units > 0n) return []
  return [fieldFault(['cap'], `This pays for no unit of the meter ${meter}.`)]
}
