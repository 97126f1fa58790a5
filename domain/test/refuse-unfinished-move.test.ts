import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestDatabase, type TestDatabase } from '@tollgate/platform/testing/embedded-servers'
import { migrationsFolder } from '../src/postgres/migrations-folder.ts'
import {
  refuseUnfinishedMove,
  UnfinishedMoveError,
} from '../src/postgres/refuse-unfinished-move.ts'

let postgres: TestDatabase

beforeAll(async () => {
  postgres = await startTestDatabase(migrationsFolder)
})

afterAll(() => postgres.stop())

test('refuses to open an installation that is still being moved', async () => {
  const sql = postgres.database.control
  await refuseUnfinishedMove(sql)
  await sql`
    insert into moved_from (source_id, source_state, move_id, started_at)
    values ('one', 'state', 'move', '2026-11-21T10:00:00Z')`
  await expect(refuseUnfinishedMove(sql)).rejects.toThrow(UnfinishedMoveError)
  await expect(refuseUnfinishedMove(sql)).rejects.toThrow(/since 2026-11-21T10:00:00.000Z/)
  await sql`update moved_from set finished_at = now()`
  await refuseUnfinishedMove(sql)
})
