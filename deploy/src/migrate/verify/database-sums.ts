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
 * Tables that are specific to an installation and are not moved: its migrations, its origin, the positions up to which usage of its
 * own log is posted, sent to webhooks and searched for alerts, and pending publications. The control plane publishes everything again if hot state is
 * empty.
 */
const ownTables = [
  'schema_migrations',
  'moved_from',
  'debit_positions',
  'usage_event_positions',
  'alert_positions',
  'publications',
]

export function poolOf(database: Database, schema: Schema): Sql {
  return schema === 'control' ? database.control : database.in(schema)
}

/** Returns the tables to move, ordered so that referenced rows are copied before the rows that refer to them. */
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
