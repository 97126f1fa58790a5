import { copySequences, copyTable } from '@tollgate/platform/database/postgres/copy-tables'
import type { Source } from '../source/source.ts'
import type { Target } from '../target/target.ts'
import { listMovedTables, poolOf, schemas } from '../verify/database-sums.ts'
import type { Work } from '../work.ts'

/**
 * Copies PostgreSQL. Each schema is copied in one transaction, together with the note that it is done. After a crash, a schema is
 * either complete or empty.
 */
export async function moveDatabase(source: Source, target: Target, work: Work): Promise<void> {
  for (const schema of schemas) {
    const step = `database/${schema}`
    const [from, to] = [poolOf(source.database, schema), poolOf(target.database, schema)]
    const tables = await listMovedTables(from)
    work.expect(tables.length)
    if (target.journal.read(step) !== undefined) {
      work.advance(tables.length)
      continue
    }
    await to.begin(async (sql) => {
      for (const table of tables) {
        work.signal.throwIfAborted()
        await copyTable(from, sql, table)
        work.advance(1)
      }
      await copySequences(from, sql)
      await target.journal.write(sql, step, 'done')
    })
  }
}
