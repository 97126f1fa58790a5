import type { Fragment } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'
import type { MigratedStatus, MigrationObstacle } from '@tollgate/schemas/http/plan-migrations'
import type { Purchase } from '../purchases/purchase.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { Holder } from './repository.ts'

/** What a migration did with a purchase. */
export type MigrationItem = Holder & {
  readonly status: MigratedStatus
  readonly reason: MigrationObstacle | null
  /** When the change takes effect, or took effect. Null for a skipped purchase. */
  readonly effectiveAt: Date | null
  readonly movedTo: string | null
}

type ItemRow = {
  purchase_ref: string
  customer_ref: string
  status: MigratedStatus
  reason: MigrationObstacle | null
  effective_at: Date | null
  moved_to: string | null
}

/** Inserts what a migration did with a purchase. Returns false if it was processed before. */
export async function insertItem(
  sql: Queryable,
  providerId: string,
  migrationRef: string,
  item: Pick<MigrationItem, 'purchaseRef' | 'customerRef' | 'reason' | 'effectiveAt'>,
): Promise<boolean> {
  const { purchaseRef, customerRef, reason, effectiveAt } = item
  const rows = await sql`
    insert into plan_migration_items
      (provider_id, migration_ref, purchase_ref, customer_ref, status, reason, effective_at)
    values (${providerId}, ${migrationRef}, ${purchaseRef}, ${customerRef},
      ${reason === null ? 'scheduled' : 'skipped'}, ${reason}, ${effectiveAt})
    on conflict do nothing
    returning purchase_ref`
  return rows.length > 0
}

/** Records that the change that a migration scheduled for `from` took effect with `to`. Does nothing for other changes. */
export async function recordMove(
  { sql, providerId, now }: UnitOfWork,
  from: Pick<Purchase, 'reference' | 'scheduledMigration'>,
  to: Pick<Purchase, 'reference'>,
): Promise<void> {
  if (from.scheduledMigration === undefined) return
  await sql`
    update plan_migration_items set status = 'moved', moved_to = ${to.reference}, effective_at = ${now}
    where provider_id = ${providerId} and migration_ref = ${from.scheduledMigration}
      and purchase_ref = ${from.reference} and status = 'scheduled'`
}

/** Stores that the change of a purchase was withdrawn with its migration, or that the purchase has changed otherwise. */
export async function withdrawItem(
  sql: Queryable,
  providerId: string,
  migrationRef: string,
  purchaseRef: string,
): Promise<void> {
  await sql`
    update plan_migration_items set status = 'withdrawn'
    where provider_id = ${providerId} and migration_ref = ${migrationRef}
      and purchase_ref = ${purchaseRef} and status = 'scheduled'`
}

/** Returns purchases whose change a migration scheduled and that has neither taken effect nor been withdrawn. */
export async function listScheduledHolders(
  sql: Queryable,
  providerId: string,
  migrationRef: string,
  rowsMax: number,
): Promise<Holder[]> {
  const rows = await sql<{ purchase_ref: string; customer_ref: string }[]>`
    select purchase_ref, customer_ref from plan_migration_items
    where provider_id = ${providerId} and migration_ref = ${migrationRef} and status = 'scheduled'
    order by purchase_ref limit ${rowsMax}`
  return rows.map((row) => ({ purchaseRef: row.purchase_ref, customerRef: row.customer_ref }))
}

/** Returns the number of purchases in each state. */
export async function countItems(
  sql: Queryable,
  providerId: string,
  migrationRef: string,
): Promise<ReadonlyMap<MigratedStatus, number>> {
  const rows = await sql<{ status: MigratedStatus; total: number }[]>`
    select shown.status, count(*)::int as total
    from (${selectItems(sql, providerId, migrationRef)}) as shown group by shown.status`
  return new Map(rows.map(({ status, total }) => [status, total]))
}

/** Returns the purchases of a migration in the order of their references. */
export async function listItems(
  sql: Queryable,
  providerId: string,
  migrationRef: string,
  status: MigratedStatus | undefined,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<MigrationItem[]> {
  const rows = await sql<ItemRow[]>`
    select * from (${selectItems(sql, providerId, migrationRef)}) as shown
    ${status === undefined ? sql`` : sql`where shown.status = ${status}`}
    order by purchase_ref limit ${limit} offset ${offset}`
  return rows.map((row) => ({
    purchaseRef: row.purchase_ref,
    customerRef: row.customer_ref,
    status: row.status,
    reason: row.reason,
    effectiveAt: row.effective_at,
    movedTo: row.moved_to,
  }))
}

/**
 * A scheduled change is superseded if the purchase has ended, or if another change was chosen for it. Its time is that of the purchase,
 * because a difference that cannot be prorated postpones it to the renewal.
 */
function selectItems(sql: Queryable, providerId: string, migrationRef: string): Fragment {
  return sql`
    select item.purchase_ref, item.customer_ref, item.reason, item.moved_to,
      case when item.status = 'scheduled' and held.scheduled_migration = item.migration_ref
        then held.scheduled_plan_at else item.effective_at end as effective_at,
      case when item.status = 'scheduled'
          and (held.scheduled_migration is distinct from item.migration_ref or held.ended_at is not null)
        then 'superseded' else item.status end as status
    from plan_migration_items as item
    left join purchases as held on held.provider_id = item.provider_id
      and held.reference = item.purchase_ref
    where item.provider_id = ${providerId} and item.migration_ref = ${migrationRef}`
}
