import type { Fragment } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'
import type { AddOnRaise } from '@tollgate/schemas/http/add-on-terms'
import type { BillingCycle } from '@tollgate/schemas/http/plan-terms'
import { jsonb } from '../postgres/jsonb.ts'
import { selectPage, type PageRange } from '../postgres/select-page.ts'
import type { AddOn } from './add-on.ts'

type AddOnRow = {
  reference: string
  product_ref: string
  name: string
  description: string | null
  price: string
  setup_fee: string
  currency: string
  billing_cycle: BillingCycle
  billing_cycle_days: number | null
  quantity_max: number | null
  raises: AddOnRaise[]
  plan_refs: string[]
  first_attached_at: Date | null
  archived_at: Date | null
  created_at: Date
  updated_at: Date
}

export async function insertAddOn(sql: Queryable, providerId: string, addOn: AddOn): Promise<void> {
  await sql`
    insert into add_ons
      (provider_id, reference, product_ref, name, description, price, setup_fee, currency, billing_cycle,
       billing_cycle_days, quantity_max, raises, plan_refs, first_attached_at, archived_at, created_at,
       updated_at)
    values (${providerId}, ${addOn.reference}, ${addOn.productRef}, ${addOn.name}, ${addOn.description},
      ${addOn.priceMinor}, ${addOn.setupFeeMinor}, ${addOn.currency}, ${addOn.billingCycle},
      ${addOn.billingCycleDays}, ${addOn.quantityMax}, ${jsonb(sql, addOn.raises)}, ${[...addOn.planRefs]},
      ${addOn.firstAttachedAt}, ${addOn.archivedAt}, ${addOn.createdAt}, ${addOn.updatedAt})`
}

/** Stores every field of an add-on that can change. */
export async function updateAddOn(sql: Queryable, providerId: string, addOn: AddOn): Promise<void> {
  await sql`
    update add_ons set name = ${addOn.name}, description = ${addOn.description}, price = ${addOn.priceMinor},
      setup_fee = ${addOn.setupFeeMinor}, currency = ${addOn.currency},
      billing_cycle = ${addOn.billingCycle}, billing_cycle_days = ${addOn.billingCycleDays},
      quantity_max = ${addOn.quantityMax}, raises = ${jsonb(sql, addOn.raises)},
      plan_refs = ${[...addOn.planRefs]}, first_attached_at = ${addOn.firstAttachedAt},
      archived_at = ${addOn.archivedAt}, updated_at = ${addOn.updatedAt}
    where provider_id = ${providerId} and reference = ${addOn.reference}`
}

export async function deleteAddOn(
  sql: Queryable,
  providerId: string,
  reference: string,
): Promise<void> {
  await sql`delete from add_ons where provider_id = ${providerId} and reference = ${reference}`
}

export function findAddOn(
  sql: Queryable,
  providerId: string,
  productRef: string,
  reference: string,
): Promise<AddOn | undefined> {
  return selectAddOn(sql, providerId, productRef, reference, sql``)
}

/** Locks and returns the add-on, so that it is not deleted while it is attached. */
export function lockAddOn(
  sql: Queryable,
  providerId: string,
  productRef: string,
  reference: string,
): Promise<AddOn | undefined> {
  return selectAddOn(sql, providerId, productRef, reference, sql`for update`)
}

async function selectAddOn(
  sql: Queryable,
  providerId: string,
  productRef: string,
  reference: string,
  locking: Fragment,
): Promise<AddOn | undefined> {
  const [row] = await sql<AddOnRow[]>`
    select * from add_ons
    where provider_id = ${providerId} and product_ref = ${productRef} and reference = ${reference}
    ${locking}`
  return row && addOnFromRow(row)
}

/** Returns a page of the product's add-ons, newest first. */
export async function listAddOns(
  sql: Queryable,
  providerId: string,
  { productRef, isArchived }: { readonly productRef: string; readonly isArchived: boolean },
  page: PageRange,
): Promise<{ readonly addOns: AddOn[]; readonly total: number }> {
  const matching = sql`
    from add_ons where provider_id = ${providerId} and product_ref = ${productRef}
    ${isArchived ? sql`and archived_at is not null` : sql`and archived_at is null`}`
  const order = sql`created_at desc, reference`
  const { rows, total } = await selectPage<AddOnRow>(sql, matching, order, page)
  return { addOns: rows.map(addOnFromRow), total }
}

function addOnFromRow(row: AddOnRow): AddOn {
  return {
    reference: row.reference,
    productRef: row.product_ref,
    name: row.name,
    description: row.description,
    priceMinor: Number(row.price),
    setupFeeMinor: Number(row.setup_fee),
    currency: row.currency,
    billingCycle: row.billing_cycle,
    billingCycleDays: row.billing_cycle_days,
    quantityMax: row.quantity_max,
    raises: row.raises,
    planRefs: row.plan_refs,
    firstAttachedAt: row.first_attached_at,
    archivedAt: row.archived_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
