import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrationsFolder } from '@tollgate/domain/postgres/migrations-folder'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { openLmdbHotState } from '@tollgate/platform/hot-state/lmdb/lmdb-hot-state'
import { startTestDatabase, type TestDatabase } from '@tollgate/platform/testing/embedded-servers'
import { createManualClock, type ManualClock } from '../manual-clock.ts'

export const environment = 'sandbox'

/** The stores, which outlive every process. Shared by the worlds of one test file. */
export type Stores = {
  readonly postgres: TestDatabase
  readonly hotState: HotState
  readonly clock: ManualClock
  stop(): Promise<void>
}

export async function openStores(): Promise<Stores> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-money-'))
  const postgres = await startTestDatabase(migrationsFolder)
  const hotState = await openLmdbHotState({ folder, role: 'projection' })
  return {
    postgres,
    hotState,
    clock: createManualClock('2026-05-04T10:00:00Z'),
    stop: async () => {
      await hotState.close()
      await postgres.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** What a test that failed has left is no work of the next one's processes. */
export async function forgetOthers({ postgres }: Stores): Promise<void> {
  const sql = postgres.database.in(environment)
  await sql`delete from processor_events`
  await sql`update payment_intents set next_look_at = null`
  await sql`update auto_recharges set status = 'disabled' where status <> 'disabled'`
  await sql`delete from publications`
}
