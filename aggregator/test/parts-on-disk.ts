import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'

export const tables = [
  'usage_records',
  'usage_by_hour',
  'usage_by_purchase',
  'usage_by_dimension',
  'usage_by_meter',
  'usage_by_day',
  'credit_debits',
  'unreadable_records',
] as const

/** One inserted block: its rows are in a folder, and its token is in a file of the table. */
export type Part = { readonly table: string; readonly name: string; readonly path: string }

/**
 * The state of a block after a kill of ClickHouse during its insert. Current versions leave `lost` between their two steps. With
 * the steps in the other order it would be `forgotten`, and before both `absent`.
 */
export type Damage = 'none' | 'lost' | 'forgotten' | 'absent'

/** Empties the tables, so that detaching and attaching them stays fast. */
export async function emptyTables(store: UsageStore): Promise<void> {
  for (const table of tables) await store.command(`TRUNCATE TABLE sandbox.${table}`)
}

/** Keeps blocks separate as they were inserted. ClickHouse loses this setting whenever a table is detached and attached. */
export async function keepPartsApart(store: UsageStore): Promise<void> {
  for (const table of tables) await store.command(`SYSTEM STOP MERGES sandbox.${table}`)
}

export async function listParts(store: UsageStore): Promise<Part[]> {
  return await store.query<Part>(
    `SELECT table, name, path FROM system.parts
     WHERE database = 'sandbox' AND active AND table IN {tables:Array(String)} ORDER BY table, name`,
    { tables },
  )
}

/**
 * Detaches each table, changes its files as a kill does, and attaches it, which reads all files again. Returns how many known
 * tokens were forgotten.
 */
export async function damageParts(
  store: UsageStore,
  damaged: readonly (readonly [Part, Damage])[],
): Promise<number> {
  let forgotten = 0
  for (const table of tables) {
    const parts = damaged.filter(([part, damage]) => part.table === table && damage !== 'none')
    if (parts.length === 0) continue
    await store.command(`DETACH TABLE sandbox.${table} SYNC`)
    for (const [part, damage] of parts) {
      if (damage !== 'lost') forgotten += await forgetToken(part)
      if (damage !== 'forgotten') await rm(part.path, { recursive: true })
    }
    await store.command(`ATTACH TABLE sandbox.${table}`)
  }
  await keepPartsApart(store)
  return forgotten
}

async function forgetToken({ name, path }: Part): Promise<number> {
  const folder = join(dirname(path), 'deduplication_logs')
  let found = 0
  for (const file of await readdir(folder)) {
    const lines = (await readFile(join(folder, file), 'utf8')).split('\n')
    const kept = lines.filter((line) => line.split('\t')[1] !== name)
    found += lines.length - kept.length
    await writeFile(join(folder, file), kept.join('\n'))
  }
  return found
}
