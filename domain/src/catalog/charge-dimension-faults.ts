import type { Charge } from '@tollgate/schemas/http/charges'
import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import { fieldFault } from '../plans/field-fault.ts'

/**
 * Returns the faults of the filter and of the matrix rows of a charge. `dimensions` are the properties that the meter stores, or
 * undefined if there is no such meter. A record without a dimension cannot be selected, so values are not empty.
 */
export function dimensionFaults(
  { where, rows = [] }: Charge,
  dimensions: readonly string[] | undefined,
): ValidationIssue[] {
  return [
    ...(where === undefined ? [] : propertyFaults(where, ['where'], dimensions)),
    ...rows.flatMap(({ when }, row) => propertyFaults(when, ['rows', row, 'when'], dimensions)),
    ...unreachedRows(rows),
  ]
}

function propertyFaults(
  values: Readonly<Record<string, string | readonly string[]>>,
  path: ValidationIssue['path'],
  dimensions: readonly string[] | undefined,
): ValidationIssue[] {
  const entries = Object.entries(values)
  if (entries.length === 0) return [fieldFault(path, 'Name at least one dimension.')]
  return entries.flatMap(([property, given]) => {
    const at = [...path, property]
    if (dimensions !== undefined && !dimensions.includes(property)) {
      return [fieldFault(at, `The meter does not declare the dimension ${property}.`)]
    }
    return [given].flat().includes('') ? [fieldFault(at, 'A value must not be empty.')] : []
  })
}

/** Returns a fault for each row whose records all match an earlier row, so that its price is never charged. */
function unreachedRows(rows: NonNullable<Charge['rows']>): ValidationIssue[] {
  return rows.flatMap(({ when }, row) => {
    const before = rows
      .slice(0, row)
      .findIndex((earlier) =>
        Object.entries(earlier.when).every(([property, value]) => when[property] === value),
      )
    if (before === -1) return []
    const message = `All records of this row match row ${before + 1} before it.`
    return [fieldFault(['rows', row, 'when'], message)]
  })
}
