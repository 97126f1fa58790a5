import { setTimeout as sleep } from 'node:timers/promises'
import { readSettings } from '@tollgate/platform/config/settings'
import type { Database, Queryable } from '@tollgate/platform/database/database'
import { createPostgresDatabase } from '@tollgate/platform/database/postgres/postgres-database'
import { openPaymentProcessors } from '@tollgate/platform/payments/open-payment-processors'
import { stripeSettings } from '@tollgate/platform/payments/stripe/stripe-settings'
import type { TollgateClient } from '@tollgate/deploy/client/tollgate-client'
import { formatCount } from '@tollgate/platform/terminal/table'
import { inFlightMax, measureProcessor, measureTransactions } from './ceilings.ts'
import { hasUnpublishedCustomers, copyCustomer, newCopy } from '../../load/copy-customer.ts'
import { measureRun, type MeasuredRun } from './measured-run.ts'
import { saveCards } from './save-cards.ts'
import { buyPlan, takeFreePlan } from './subscribe.ts'

export type BillingOptions = {
  readonly client: TollgateClient
  /** Settings of the running services. */
  readonly environment: Readonly<Record<string, string>>
  /** Number of due purchases in each run, in ascending order. */
  readonly due: readonly number[]
  /** Numbers of runners that share a run. Each number is measured for each entry of `due`. */
  readonly runners: readonly number[]
  readonly print: (line: string) => void
}

export type BillingResult = {
  readonly name: string
  readonly due: number
  readonly run: MeasuredRun
  readonly ceilingName: string
  readonly ceilingPerSecond: number
}

/** A kind of renewals, and the ceiling to compare it with. */
type Renewals = {
  readonly name: string
  /** Creates the first purchase. Returns the reference of its customer. */
  readonly subscribe: () => Promise<string>
  /** Adds what the copies need in addition to their rows. */
  readonly prepareCopies: (originalRef: string, customerRefs: readonly string[]) => Promise<void>
  readonly ceilingName: string
  readonly measureCeiling: () => Promise<number>
}

const pollMs = 200

export async function measureBilling(options: BillingOptions): Promise<BillingResult[]> {
  const { client, environment } = options
  const url = environment['TOLLGATE_DATABASE_URL'] ?? ''
  const database = createPostgresDatabase({ url, isOwner: true, poolMax: inFlightMax })
  const processors = await openPaymentProcessors(readSettings(stripeSettings, environment))
  const processor = processors.of('sandbox')
  if (processor === undefined) throw new Error('No payment processor is configured')
  const pool = database.in('sandbox')
  const kinds: Renewals[] = [
    {
      name: 'free plan',
      subscribe: () => takeFreePlan(client),
      prepareCopies: () => Promise.resolve(),
      ceilingName: 'plain transactions',
      measureCeiling: () => measureTransactions(pool),
    },
    {
      name: 'paid plan',
      subscribe: () => buyPlan(client, processor),
      prepareCopies: (originalRef, customerRefs) =>
        saveCards(pool, processor, originalRef, customerRefs),
      ceilingName: 'processor alone',
      measureCeiling: () => measureProcessor(pool, processor),
    },
  ]
  try {
    const results: BillingResult[] = []
    for (const kind of kinds) results.push(...(await measureKind(kind, pool, options)))
    return results
  } finally {
    await processors.close()
    await database.close()
  }
}

/** Measures one kind. Each run also renews the purchases of the earlier runs, which are due again a month later. */
async function measureKind(
  { name, subscribe, prepareCopies, ceilingName, measureCeiling }: Renewals,
  pool: Database['control'],
  { environment, due, runners, print }: BillingOptions,
): Promise<BillingResult[]> {
  const originalRef = await subscribe()
  const results: BillingResult[] = []
  let made = 1
  for (const count of due) {
    print(`${name}: creating ${formatCount(count - made)} purchases ...`)
    const prefix = `${originalRef}_${count}`
    const customerRefs = await createDuePurchases(pool, originalRef, prefix, count - made)
    await prepareCopies(originalRef, customerRefs)
    made = count
    for (const number of runners) {
      const at = await billingDateOf(pool, originalRef)
      print(`${name}: renewing ${formatCount(count)}, runners: ${number} ...`)
      const run = await measureRun('renewals', at, number, environment)
      const renewed = await countRenewed(pool, originalRef, at)
      if (renewed !== count)
        throw new Error(`Renewed ${renewed} of ${count}: ${JSON.stringify(run.outcomes)}`)
      const ceilingPerSecond = await measureCeiling()
      const rate = (count / run.seconds).toFixed(0)
      const memory = run.memoryMiB.toFixed(0)
      print(`${name}: ${rate}/s of ${ceilingPerSecond.toFixed(0)}/s, ${memory} MiB`)
      results.push({ name, due: count, run, ceilingName, ceilingPerSecond })
    }
  }
  await stopRenewing(pool, await productOf(pool, originalRef))
  return results
}

/** Creates and publishes copies of a customer and its purchase, with the same due date. Returns the references of the copies. */
async function createDuePurchases(
  pool: Database['control'],
  originalRef: string,
  prefix: string,
  count: number,
): Promise<string[]> {
  const copies = Array.from({ length: count }, (_, number) => newCopy(`${prefix}_${number}`))
  await copyCustomer(pool, originalRef, copies)
  while (await hasUnpublishedCustomers(pool)) await sleep(pollMs)
  await pool`analyze`
  return copies.map(({ customerRef }) => customerRef)
}

/**
 * Stops the renewal of a kind's purchases, because they would be due again during the runs of the next kind. Updates them in
 * batches.
 */
async function stopRenewing(sql: Queryable, productRef: string): Promise<void> {
  let stopped: number
  do {
    const rows = await sql`
      update purchases set auto_renew = false where reference in (
        select reference from purchases where product_ref = ${productRef} and auto_renew limit 5000)`
    stopped = rows.count
  } while (stopped > 0)
}

async function billingDateOf(sql: Queryable, customerRef: string): Promise<Date> {
  const [row] = await sql<{ date: Date | null }[]>`
    select next_billing_date as date from purchases where customer_ref = ${customerRef}`
  if (!row?.date) throw new Error('The purchase does not renew')
  return row.date
}

async function countRenewed(sql: Queryable, customerRef: string, at: Date): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from purchases
    where product_ref = ${await productOf(sql, customerRef)} and next_billing_date > ${at}`
  return row!.count
}

async function productOf(sql: Queryable, customerRef: string): Promise<string> {
  const [row] = await sql<{ product: string }[]>`
    select product_ref as product from purchases where customer_ref = ${customerRef}`
  return row!.product
}
