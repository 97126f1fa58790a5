import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listOutboxEvents } from '@tollgate/domain/outbox/repository'
import { createPostgresDatabase } from '@tollgate/platform/database/postgres/postgres-database'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

/* `customer.credit.expiring`, 7 days before credits expire. */

const dayMs = 86_400_000
const start = Date.parse('2026-03-01T00:00:00Z')

let stack: TestStack
let tenant: Tenant

beforeAll(async () => {
  stack = await startTestStack({ settings: { TOLLGATE_CREDIT_EXPIRY_INTERVAL_MS: '20' } })
  tenant = await stack.createTenant()
})
afterAll(() => stack.stop())

function setDay(day: number): void {
  stack.clock.set(new Date(start + day * dayMs).toISOString())
}

async function createCustomer(email: string): Promise<string> {
  const path = '/v1/sdk/customers'
  const { body } = await stack.call<{ reference: string }>(tenant.liveKey, 'POST', path, { email })
  return body.reference
}

/** Grants credits that expire on the day. */
async function grant(customerRef: string, credits: number, day: number): Promise<void> {
  const expiresAt = new Date(start + day * dayMs).toISOString()
  const path = `/v1/sdk/customers/${customerRef}/credits`
  const { status } = await stack.call(tenant.liveKey, 'POST', path, { credits, expiresAt })
  expect(status).toBeLessThan(300)
}

/** Returns the announced credits with the day of their expiry, after several rounds of the job. */
async function announced(customerRef: string): Promise<(readonly [number, number])[]> {
  await sleep(400)
  const events = await listOutboxEvents(stack.database.in('live'), tenant.providerId, 1_000)
  return events
    .filter(
      ({ type, object }) =>
        type === 'customer.credit.expiring' && object['customerId'] === customerRef,
    )
    .map(({ object }) => [
      Number(object['credits']),
      (Number(object['expiresAt']) * 1_000 - start) / dayMs,
    ])
}

test('is emitted once for each time of expiry, with the credits that are left', async () => {
  setDay(0)
  const customerRef = await createCustomer('ada@example.com')
  await grant(customerRef, 100, 20)
  await grant(customerRef, 50, 20)
  await grant(customerRef, 30, 30)
  const path = `/v1/ui/customers/${customerRef}/credits/adjustments`
  await stack.call(tenant.liveKey, 'POST', path, { amount: -40, reason: 'used' })
  setDay(12.9)
  expect(await announced(customerRef)).toEqual([])
  setDay(13)
  expect(await announced(customerRef)).toEqual([[110, 20]])
  setDay(14)
  expect(await announced(customerRef)).toEqual([[110, 20]])
  setDay(24)
  expect(await announced(customerRef)).toEqual([
    [110, 20],
    [30, 30],
  ])
})

test('is not emitted for a grant that is shorter than the notice, or empty, or of a deleted customer', async () => {
  setDay(100)
  const short = await createCustomer('short@example.com')
  await grant(short, 10, 106)
  const empty = await createCustomer('empty@example.com')
  await grant(empty, 10, 120)
  const adjust = { amount: -10, reason: 'used' }
  await stack.call(tenant.liveKey, 'POST', `/v1/ui/customers/${empty}/credits/adjustments`, adjust)
  const gone = await createCustomer('gone@example.com')
  await grant(gone, 10, 120)
  await stack.call(tenant.liveKey, 'DELETE', `/v1/ui/customers/${gone}`)
  setDay(114)
  for (const customerRef of [short, empty, gone]) expect(await announced(customerRef)).toEqual([])
})

test('is emitted for the other wallets if one of them fails', async () => {
  setDay(200)
  const failing = await createCustomer('failing@example.com')
  await grant(failing, 10, 219)
  const next = await createCustomer('next@example.com')
  await grant(next, 20, 220)
  // Connect as the owner of the tables, who may add triggers.
  const owner = createPostgresDatabase({ url: stack.databaseUrl, isOwner: true, poolMax: 1 })
  const sql = owner.in('live')
  try {
    await sql.unsafe(`
      create function refuse_grant() returns trigger language plpgsql as $$
        begin raise 'refused'; end $$;
      create trigger refused before update on credit_grants for each row
        when (new.customer_ref = '${failing}') execute function refuse_grant()`)
    setDay(214)
    expect(await announced(next)).toEqual([[20, 220]])
    expect(await announced(failing)).toEqual([])
    await sql.unsafe('drop trigger refused on credit_grants')
    expect(await announced(failing)).toEqual([[10, 219]])
  } finally {
    await owner.close()
  }
})
