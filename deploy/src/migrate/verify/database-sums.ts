import type { Database } from '@tollgate/platform/database/database'
import {
  listTables,
  sumTable,
  type TableSum,
} from '@tollgate/platform/database/postgres/copy-tables'
import { environments } from '@tollgate/schemas/environment'

export const schemas = ['control', ...environments] as const
export type Schema = (typeof schemas)[number]

type Sql = Database['control']

export type SchemaSum = TableSum & { readonly schema: Schema }

/**
 * Tables that each installation has for itself: what it is made with, where it came from, how far usage of its own log
 * is posted and told of, and what waits to be published, which the control plane puts there anew when it finds an empty hot state.
 */
const ownTables = [
  'schema_migrations',
  'moved_from',
  'debit_positions',
  'usage_event_positions',
  'publications',
]

export function poolOf(database: Database, schema: Schema): Sql {
  return schema === 'control' ? database.control : database.in(schema)
}

/** The tables that are moved, in an order in which rows find those that they refer to. */
export async function listMovedTables(sql: Sql): Promise<string[]> {
  return (await listTables(sql)).filter((table) => !ownTables.includes(table))
}

export async function listSums(database: Database): Promise<SchemaSum[]> {
  const sums: SchemaSum[] = []
  for (const schema of schemas) {
    const sql = poolOf(database, schema)
    for (const table of await listMovedTables(sql)) {
      sums.push({ schema, ...(await sumTable(sql, table)) })
    }
  }
  return sums
}
