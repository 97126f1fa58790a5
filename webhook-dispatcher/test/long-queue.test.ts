import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Database } from '@tollgate/platform/database/database'
import { createPostgresDatabase } from '@tollgate/platform/database/postgres/postgres-database'
import { claimDeliveries, type ClaimedDelivery } from '../src/postgres/claim-deliveries.ts'
import { recordOutcomes, type Outcome } from '../src/postgres/record-outcomes.ts'
import { applyEndpointStatus } from '../src/postgres/apply-endpoint-status.ts'
import { startDispatcherStack, until, type DispatcherStack } from './dispatcher-stack.ts'
import { firstAttempt, firstClaim } from './first-claim.ts'

/* Tests on a real PostgreSQL with statistics that a claim reads only the rows that it takes, and none that were sent before. */

let stack: DispatcherStack
let owner: Database

beforeAll(async () => {
  stack = await startDispatcherStack()
  owner = createPostgresDatabase({ url: stack.databaseUrl, isOwner: true, poolMax: 1 })
})

afterAll(async () => {
  await owner.close()
  await stack.close()
})

afterEach(async () => {
  await stack.reset()
  // Deleted rows would count as reads until PostgreSQL has vacuumed them.
  await owner.in('sandbox')`truncate webhook_deliveries`
})

const sentBefore = 30_000
const endpoints = ['we_A', 'we_B', 'we_C']

/** Counts the rows of the queue that this connection has read since the server was started, by any kind of scan. */
async function countReadRows(): Promise<number> {
  const sql = owner.in('sandbox')
  await sql`select pg_stat_force_next_flush()`
  const [row] = await sql<{ read: number }[]>`
    select (
      (select sum(idx_tup_read) from pg_stat_user_indexes
        where schemaname = 'sandbox' and relname = 'webhook_deliveries')
      + (select seq_tup_read from pg_stat_user_tables
        where schemaname = 'sandbox' and relname = 'webhook_deliveries')
    )::int as read`
  return row!.read
}

const now = new Date()

// The queue without statistics comes first: PostgreSQL does not forget statistics once it has them.
test.each([
  ['without statistics', false],
  ['with statistics', true],
])('reads fewer than 1,000 rows per step of a long queue %s', async (_, isCounted) => {
  for (const reference of endpoints) {
    await stack.insertEndpoint({ providerId: 'prov', reference, url: 'https://example.com' })
  }
  const sql = owner.in('sandbox')
  await sql`
    insert into webhook_deliveries
      (provider_id, reference, endpoint_ref, event_id, event_type, state, attempts, due_at, created_at)
    select 'prov', 'dlv_' || n, (${endpoints}::text[])[1 + n % 3], 'evt_' || n, 'payment.succeeded', 'succeeded', 1,
      now(), now()
    from generate_series(1, ${sentBefore}) n`
  const customers = Array.from({ length: 10_000 }, (_, index) => `cus_${index}`)
  await stack.emit('prov', customers)
  if (isCounted) await sql`analyze webhook_deliveries`
  const before = await countReadRows()
  const { deliveries } = await claimDeliveries(sql, firstClaim(now))
  expect(deliveries.length).toBe(4 * endpoints.length)
  const claimed = await countReadRows()
  expect(claimed - before).toBeLessThan(1_000)
  await recordOutcomes(sql, deliveries.map(succeeded), [], now)
  const recorded = await countReadRows()
  expect(recorded - claimed).toBeLessThan(1_000)
  expect(await applyEndpointStatus(sql, now)).toBe(0)
  expect((await countReadRows()) - recorded).toBeLessThan(1_000)
})

function succeeded({ providerId, reference, claim }: ClaimedDelivery): Outcome {
  return {
    providerId,
    deliveryRef: reference,
    claim,
    state: 'succeeded',
    dueAt: null,
    endedAt: now,
    attempts: [firstAttempt(now, 200)],
  }
}

test('finds a due retry behind hundreds of endpoints without one', async () => {
  const sql = owner.in('sandbox')
  await sql`
    insert into webhook_endpoints (provider_id, reference, url, created_at, updated_at)
    select 'prov', 'we_' || to_char(n, 'FM0000'), 'https://example.invalid', now(), now() from generate_series(1, 600) n`
  const [eventId] = await stack.emit('other', ['cus_1'])
  await sql`
    insert into webhook_deliveries
      (provider_id, reference, endpoint_ref, event_id, event_type, state, attempts, due_at, created_at)
    select 'prov', 'dlv_' || n, 'we_' || to_char(n, 'FM0000'), ${eventId!}, 'payment.succeeded', 'pending', 1,
      case n when 600 then now() else now() + interval '1 day' end, now()
    from generate_series(1, 600) n`
  await stack.start({ pollMs: 100 })
  await until(async () => {
    const rows = await sql`select from webhook_deliveries where attempts > 1`
    return rows.length > 0
  })
  expect(await sql`select reference from webhook_deliveries where attempts > 1`).toEqual([
    { reference: 'dlv_600' },
  ])
})
