import type { Fragment } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'
import type { PlanMigrationStatus } from '@tollgate/schemas/http/plan-migrations'
import type { ChangeBilling } from '@tollgate/schemas/http/scheduled-changes'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { jsonb } from '../postgres/jsonb.ts'
import { selectCustomersOfClocks } from '../test-clocks/customer-time.ts'
import type { PlanMigration } from './plan-migration.ts'

type MigrationRow = {
  reference: string
  product_ref: string
  plan_ref: string
  target: PlanSnapshot
  billing: ChangeBilling | null
  notice_days: number | null
  purchase_refs: string[] | null
  customer_refs: string[] | null
  status: PlanMigrationStatus
  processed_to: string | null
  created_at: Date
  updated_at: Date
}

/** Returns false if another migration of the plan is not done yet. */
export async function insertMigration(
  sql: Queryable,
  providerId: string,
  migration: PlanMigration,
): Promise<boolean> {
  const rows = await sql`
    insert into plan_migrations
      (provider_id, reference, product_ref, plan_ref, target, billing, notice_days, purchase_refs,
       customer_refs, status, processed_to, created_at, updated_at)
    values (${providerId}, ${migration.reference}, ${migration.productRef}, ${migration.planRef},
      ${jsonb(sql, migration.target)}, ${migration.billing}, ${migration.noticeDays},
      ${textArray(migration.purchaseRefs)}, ${textArray(migration.customerRefs)}, ${migration.status},
      ${migration.processedTo}, ${migration.createdAt}, ${migration.updatedAt})
    on conflict (provider_id, plan_ref) where status in ('running', 'paused', 'cancelling')
      do nothing
    returning reference`
  return rows.length > 0
}

/** Returns whether a migration of the plan is running, paused or being cancelled. */
export async function hasOpenMigration(
  sql: Queryable,
  providerId: string,
  planRef: string,
): Promise<boolean> {
  const rows = await sql`
    select 1 from plan_migrations
    where provider_id = ${providerId} and plan_ref = ${planRef}
      and status in ('running', 'paused', 'cancelling')`
  return rows.length > 0
}

function textArray(values: readonly string[] | null): string[] | null {
  return values === null ? null : [...values]
}

export async function findMigration(
  sql: Queryable,
  providerId: string,
  reference: string,
): Promise<PlanMigration | undefined> {
  return selectOne(sql, providerId, reference, sql``)
}

/** Locks the migration against changes by others. */
export async function lockMigration(
  sql: Queryable,
  providerId: string,
  reference: string,
): Promise<PlanMigration | undefined> {
  return selectOne(sql, providerId, reference, sql`for update`)
}

/** Keeps the migration from being paused or cancelled during the transaction. Several processes can hold this lock. */
export async function holdMigration(
  sql: Queryable,
  providerId: string,
  reference: string,
): Promise<PlanMigration | undefined> {
  return selectOne(sql, providerId, reference, sql`for share`)
}

/**
 * Returns the newest migration of the plan that moves purchases or has moved them, and keeps it from being paused or cancelled during
 * the transaction.
 */
export async function holdNewestMigration(
  sql: Queryable,
  providerId: string,
  planRef: string,
): Promise<PlanMigration | undefined> {
  const [row] = await sql<MigrationRow[]>`
    select * from plan_migrations
    where provider_id = ${providerId} and plan_ref = ${planRef}
      and status in ('running', 'paused', 'done')
    order by created_at desc limit 1
    for share`
  return row === undefined ? undefined : fromRow(row)
}

async function selectOne(
  sql: Queryable,
  providerId: string,
  reference: string,
  lock: Fragment,
): Promise<PlanMigration | undefined> {
  const [row] = await sql<MigrationRow[]>`
    select * from plan_migrations
    where provider_id = ${providerId} and reference = ${reference} ${lock}`
  return row === undefined ? undefined : fromRow(row)
}

/** Returns the migrations of a plan, newest first. */
export async function listMigrations(
  sql: Queryable,
  providerId: string,
  planRef: string,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ readonly migrations: readonly PlanMigration[]; readonly total: number }> {
  const rows = await sql<MigrationRow[]>`
    select * from plan_migrations where provider_id = ${providerId} and plan_ref = ${planRef}
    order by created_at desc, reference limit ${limit} offset ${offset}`
  const [counted] = await sql<{ total: number }[]>`
    select count(*)::int as total from plan_migrations
    where provider_id = ${providerId} and plan_ref = ${planRef}`
  return { migrations: rows.map(fromRow), total: counted?.total ?? 0 }
}

/** Stores the state of a migration. One that is resumed begins again, because purchases may have begun during the pause. */
export async function updateMigrationStatus(
  sql: Queryable,
  providerId: string,
  { reference, status, updatedAt }: Pick<PlanMigration, 'reference' | 'status' | 'updatedAt'>,
): Promise<void> {
  await sql`
    update plan_migrations set status = ${status}, updated_at = ${updatedAt},
      processed_to = case when status = 'paused' then null else processed_to end
    where provider_id = ${providerId} and reference = ${reference}`
}

/**
 * Stores up to which purchase a running migration is processed. Does nothing if the migration was paused, or if another process has
 * got further.
 */
export async function updateProcessedTo(
  sql: Queryable,
  providerId: string,
  reference: string,
  { from, to }: { readonly from: string | null; readonly to: string },
): Promise<void> {
  await sql`
    update plan_migrations set processed_to = ${to}
    where provider_id = ${providerId} and reference = ${reference} and status = 'running'
      and processed_to is not distinct from ${from}`
}

/** Returns those of the references that name purchases of the plan, in any state. */
export async function listHeld(
  sql: Queryable,
  providerId: string,
  planRef: string,
  references: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await sql<{ reference: string }[]>`
    select reference from purchases
    where provider_id = ${providerId} and plan_ref = ${planRef}
      and reference = any(${textArray(references)})`
  return new Set(rows.map(({ reference }) => reference))
}

/** The references of a purchase and its customer. */
export type Holder = { readonly purchaseRef: string; readonly customerRef: string }

/** The statuses of purchases that a migration processes. It skips every purchase that is not active, and records why. */
export const processedStatuses = ['active', 'trialing', 'past_due', 'suspended'] as const

/**
 * Returns the next purchases that a migration has to process, in the order of their references. Purchases that began after the
 * migration was created have newer terms, unless older ones were stored for them. The start of a customer on a test clock has another
 * time, so its purchases are all processed. Purchases that the migration has processed are left out.
 */
export async function listNextHolders(
  sql: Queryable,
  providerId: string,
  migration: Pick<
    PlanMigration,
    | 'reference'
    | 'productRef'
    | 'planRef'
    | 'purchaseRefs'
    | 'customerRefs'
    | 'processedTo'
    | 'createdAt'
  >,
  rowsMax: number,
): Promise<Holder[]> {
  const { productRef, planRef, purchaseRefs, customerRefs, processedTo, createdAt } = migration
  const rows = await sql<{ reference: string; customer_ref: string }[]>`
    select reference, customer_ref from purchases
    where provider_id = ${providerId} and product_ref = ${productRef} and plan_ref = ${planRef}
      and not is_pack and status in ${sql(processedStatuses)}
      and reference > ${processedTo ?? ''}
      and not exists (
        select from plan_migration_items as item
        where item.provider_id = ${providerId} and item.migration_ref = ${migration.reference}
          and item.purchase_ref = purchases.reference)
      and (coalesce(terms_at, created_at) <= ${createdAt} or (provider_id, customer_ref) in (${selectCustomersOfClocks(sql)}))
      ${purchaseRefs === null ? sql`` : sql`and reference = any(${textArray(purchaseRefs)})`}
      ${customerRefs === null ? sql`` : sql`and customer_ref = any(${textArray(customerRefs)})`}
    order by reference limit ${rowsMax}`
  return rows.map((row) => ({ purchaseRef: row.reference, customerRef: row.customer_ref }))
}

function fromRow(row: MigrationRow): PlanMigration {
  return {
    reference: row.reference,
    productRef: row.product_ref,
    planRef: row.plan_ref,
    target: row.target,
    billing: row.billing,
    noticeDays: row.notice_days,
    purchaseRefs: row.purchase_refs,
    customerRefs: row.customer_refs,
    status: row.status,
    processedTo: row.processed_to,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
