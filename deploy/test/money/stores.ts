import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrateUsageTables } from '@tollgate/aggregator/clickhouse/migrate'
import { claimEventPoll } from '@tollgate/domain/payments/inbox-repository'
import { queueLost } from '@tollgate/domain/publishing/queue-lost'
import { recordPublishedKinds } from '@tollgate/domain/publishing/record-published-kinds'
import { migrationsFolder } from '@tollgate/domain/postgres/migrations-folder'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { openLmdbHotState } from '@tollgate/platform/hot-state/lmdb/lmdb-hot-state'
import {
  startTestDatabase,
  startTestUsageStore,
  type TestDatabase,
} from '@tollgate/platform/testing/embedded-servers'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { createManualClock, type ManualClock } from '../manual-clock.ts'
import { environment } from './environment.ts'
import { partitionCount, UsageLog } from './usage-log.ts'

/** The stores, which outlive every process. The worlds of one test file share them. */
export type Stores = {
  readonly postgres: TestDatabase
  readonly hotState: HotState
  readonly usageStore: UsageStore
  readonly usageLog: UsageLog
  readonly clock: ManualClock
  stop(): Promise<void>
}

export async function openStores(): Promise<Stores> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-money-'))
  const postgres = await startTestDatabase(migrationsFolder)
  const clickhouse = await startTestUsageStore()
  await migrateUsageTables(clickhouse.connection)
  const hotState = await openLmdbHotState({ folder, role: 'projection' })
  const clock = createManualClock('2026-05-04T10:00:00Z')
  // An installation reads the processor's events from its start on. Its first reading does not reach back for months.
  await claimEventPoll(postgres.database.in(environment), new Date(clock.now()), 0)
  // Nothing is stored yet, so a customer without a wallet in hot state has no credits.
  const { database } = postgres
  const now = (): Date => new Date(clock.now())
  const publisher = { database, hotState, partitionCount: () => partitionCount, now }
  await queueLost(publisher)
  await recordPublishedKinds(publisher)
  const stores = { postgres, hotState, usageStore: clickhouse.store, clock }
  return {
    ...stores,
    usageLog: new UsageLog(stores),
    stop: async () => {
      await hotState.close()
      await clickhouse.stop()
      await postgres.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Removes the pending work of earlier stories, so that the processes of the next one do not do it. */
export async function removePendingWork({ postgres }: Stores): Promise<void> {
  const sql = postgres.database.in(environment)
  await sql`delete from processor_events`
  await sql`update payment_intents set next_look_at = null where next_look_at is not null`
  await sql`update auto_recharges set status = 'disabled' where status <> 'disabled'`
  await sql`update credit_take_backs set due_at = null where due_at is not null`
  await sql`update processor_customers set removal_due_at = null where removal_due_at is not null`
  await sql`update invoices set next_charge_at = null where next_charge_at is not null`
  await sql`
    update purchases set status = 'expired', next_usage_bill_at = null, usage_closes_at = null
    where status in ('active', 'past_due', 'suspended') or next_usage_bill_at is not null
      or usage_closes_at is not null`
  await sql`update credit_schedules set look_at = null where look_at is not null`
  await sql`delete from publications`
}
