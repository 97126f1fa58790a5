import type { Meter } from '@tollgate/domain/meters/repository'
import { isFilterFault, usageFilterOf, type UsageFilter } from '@tollgate/schemas/http/usage-query'
import { invalidField } from '../errors.ts'

type KnownMeter = Pick<Meter, 'name' | 'reads'>

/** Returns the names of the dimensions that the meter declares. */
export function declaredBy({ reads }: KnownMeter): readonly string[] {
  return reads?.reading.dimensions ?? []
}

/** Refuses the parameter `field` if it names a dimension that the meter does not declare. */
export function requireDeclared(meter: KnownMeter, names: readonly string[], field: string): void {
  const declared = declaredBy(meter)
  const unknown = names.find((name) => !declared.includes(name))
  if (unknown === undefined) return
  throw invalidField(field, `Meter ${meter.name} has no dimension ${unknown}`)
}

/** Returns the filter in the text of the parameter `filter`. Refuses a malformed one. */
export function parseFilter(text: string): UsageFilter {
  const filter = usageFilterOf(text)
  if (isFilterFault(filter)) throw invalidField('filter', filter.fault)
  return filter
}
