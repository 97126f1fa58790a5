import type { JSONValue, Parameter } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'

/** A JSON parameter. Our JSON objects were checked at the edge, which the driver's own type cannot know. */
export function jsonb(sql: Queryable, value: object | null): Parameter | null {
  return value === null ? null : sql.json(value as unknown as JSONValue)
}
