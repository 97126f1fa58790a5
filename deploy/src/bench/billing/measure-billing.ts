import { randomUUID } from 'node:crypto'
import type { Database, Queryable } from '@tollgate/platform/database/database'
import { createPostgresDatabase } from '@tollgate/platform/database/postgres/postgres-database'
import { workOff } from '@tollgate/domain/publications/work-off'
import type { TollgateClient } from '../../client/tollgate-client.ts'
import { formatCount } from '../../terminal/table.ts'
import { makeDuePurchases } from './make-due-purchases.ts'
import { measureRun, type MeasuredRun } from './measured-run.ts'

export type BillingOptions = {
  readonly client: TollgateClient
  /** The settings that the services run with. */
  readonly environment: Readonly<Record<string, string>>
  /** How many purchases are due in each run, the smallest first. */
  readonly due: readonly number[]
  readonly say: (line: string) => void
}

export type BillingResult = {
  readonly due: number
  readonly run: MeasuredRun
  /** The same rows locked, changed and told of by plain transactions, as many at a time; purchases per second. */
  readonly directPerSecond: number
}

/** What the runner works on at a time, and so what the plain transactions do. */
const inFlightMax = 8
/** Enough to know a rate by. */
const directMax = 10_000

/** Renewals of a plan that costs nothing: what our own side of a renewal takes. */
export async function measureRenewals(options: BillingOptions): Promise<BillingResult[]> {
  const { client, environment, due, say } = options
  const customerRef = await buyFreePlan(client)
  const url = environment['TOLLGATE_DATABASE_URL'] ?? ''
  const database = createPostgresDatabase({ url, isOwner: true, poolMax: inFlightMax })
  try {
    const pool = database.in('sandbox')
    const results: BillingResult[] = []
    let made = 1
    for (const count of due) {
      say(`making ${formatCount(count)} purchases that are due ...`)
      await makeDuePurchases(pool, customerRef, `due_${count}`, count - made)
      made = count
      const at = await dateOf(pool, customerRef)
      say(`renewing ${formatCount(count)} ...`)
      const run = await measureRun('renewals', at, environment)
      if (run.outcomes['done'] !== count) throw new Error(JSON.stringify(run.outcomes))
      results.push({ due: count, run, directPerSecond: await measureDirect(pool) })
    }
    return results
  } finally {
    await database.close()
  }
}

async function buyFreePlan(client: TollgateClient): Promise<string> {
  const product = await client.createProduct({ name: 'Renewed' })
  const plan = { name: 'Free', type: 'recurring', billingCycle: 'monthly', price: 0 }
  await client.createPlan(product.reference, { ...plan, default: true })
  const fields = { email: 'original@measured.example', externalRef: 'original' }
  const { reference } = await client.createCustomer(fields)
  await client.checkLimit(reference, product.reference)
  return reference
}

/** A moment at which the purchase is due, and all that were copied from it and renewed with it. */
async function dateOf(sql: Queryable, customerRef: string): Promise<Date> {
  const [row] = await sql<{ date: Date | null }[]>`
    select next_billing_date as date from purchases where customer_ref = ${customerRef}`
  if (!row?.date) throw new Error('The purchase does not renew')
  return row.date
}

async function measureDirect(pool: Database['control']): Promise<number> {
  const rows = await pool<{ provider_id: string; reference: string }[]>`
    select provider_id, reference from purchases limit ${directMax}`
  const beganMs = performance.now()
  await workOff(rows, inFlightMax, async ({ provider_id: providerId, reference }) => {
    await pool.begin((sql) => [
      sql`select * from purchases where provider_id = ${providerId} and reference = ${reference} for update`,
      sql`update purchases set next_billing_date = next_billing_date + interval '1 second', updated_at = now()
        where provider_id = ${providerId} and reference = ${reference}`,
      sql`insert into outbox (event_id, provider_id, type, livemode, object, created_at)
        values (${randomUUID()}, ${providerId}, 'measured', false, '{}', now())`,
    ])
  })
  const perSecond = rows.length / ((performance.now() - beganMs) / 1_000)
  await pool`update purchases set next_billing_date = next_billing_date - interval '1 second'
    where (provider_id, reference) in (select * from unnest(
      ${rows.map((row) => row.provider_id)}::text[], ${rows.map((row) => row.reference)}::text[]))`
  return perSecond
}
