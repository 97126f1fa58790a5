import type { Database } from '@tollgate/platform/database/database'
import type { Secrets } from '@tollgate/platform/secrets/open-secrets'
import { environments, type Environment } from '@tollgate/schemas/environment'
import { sealedColumns } from '@tollgate/schemas/sealed-columns'
import { setActor, type Actor } from '../audit/actor.ts'

/** Columns of tables that have one row for each (provider, id). */
const environmentColumns = sealedColumns.filter(({ schema }) => schema === 'environment')

type EnvironmentColumn = (typeof environmentColumns)[number]

const rowsPerRound = 200

/**
 * Seals every secret again that an older key sealed, after which the older key can be removed. Returns the number of resealed
 * secrets. It can be stopped and run again at any time, because each row can be opened with one of the keys before and after.
 */
export async function resealSecrets(
  database: Database,
  secrets: Secrets,
  actor: Actor,
): Promise<number> {
  let resealed = 0
  for (const environment of environments) {
    for (const sealed of environmentColumns) {
      resealed += await resealColumn(database, environment, secrets, sealed, actor)
    }
  }
  return resealed
}

type Row = { readonly provider_id: string; readonly id: string; readonly sealed: string }

async function resealColumn(
  database: Database,
  environment: Environment,
  secrets: Secrets,
  { table, id, column }: EnvironmentColumn,
  actor: Actor,
): Promise<number> {
  const pool = database.in(environment)
  let resealed = 0
  for (let after = ''; ;) {
    const rows = await pool<Row[]>`
      select provider_id, ${pool(id)} as id, ${pool(column)} as sealed from ${pool(table)}
      where ${pool(id)} > ${after} and ${pool(column)} is not null
      order by ${pool(id)} limit ${rowsPerRound}`
    for (const row of rows.filter(({ sealed }) => !secrets.isCurrent(sealed))) {
      const resealedText = secrets.reseal(row.sealed, { table, column, owner: row.provider_id })
      // A secret that was replaced meanwhile is already sealed with the newest key, so the condition on the old value skips it.
      const rowsOfProvider = database.of(row.provider_id).in(environment)
      await rowsOfProvider.write((sql) => {
        setActor(sql, actor)
        return sql`
          update ${sql(table)} set ${sql(column)} = ${resealedText}
          where provider_id = ${row.provider_id} and ${sql(id)} = ${row.id}
            and ${sql(column)} = ${row.sealed}`
      })
      resealed += 1
    }
    const last = rows.at(-1)
    if (last === undefined) return resealed
    after = last.id
  }
}
