import type { JSONValue, Parameter } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'

/** Returns a JSON parameter. JSON objects are validated at the edge of the system, which the driver's type cannot express. */
export function jsonb(sql: Queryable, value: object | null): Parameter | null {
  return value === null ? null : sql.json(value as unknown as JSONValue)
}
