import type { Queryable } from '@tollgate/platform/database/database'
import { jsonb } from '../postgres/jsonb.ts'
import { selectPage, type PageRange } from '../postgres/select-page.ts'
import type { Plan, PlanStatus, PlanTerms, PlanType } from '../plans/plan.ts'

type PlanRow = {
  reference: string
  product_ref: string
  key: string | null
  name: string
  description: string | null
  type: PlanType
  status: PlanStatus
  is_default: boolean
  hidden: boolean
  price: bigint
  base_price: bigint | null
  setup_fee: bigint | null
  currency: string
  meter_ref: string | null
  terms: PlanTerms
  created_at: Date
  updated_at: Date
}

export async function insertPlan(sql: Queryable, providerId: string, plan: Plan): Promise<void> {
  await sql`
    insert into plans
      (provider_id, reference, product_ref, key, name, description, type, status, is_default, hidden,
       price, base_price, setup_fee, currency, meter_ref, terms, created_at, updated_at)
    values (${providerId}, ${plan.reference}, ${plan.productRef}, ${plan.key}, ${plan.name},
      ${plan.description}, ${plan.type}, ${plan.status}, ${plan.isDefault}, ${plan.hidden},
      ${plan.priceMinor}, ${plan.basePriceMinor}, ${plan.setupFeeMinor}, ${plan.currency},
      ${plan.meterRef}, ${jsonb(sql, plan.terms)}, ${plan.createdAt}, ${plan.updatedAt})`
}

export async function updatePlan(sql: Queryable, providerId: string, plan: Plan): Promise<void> {
  await sql`
    update plans set key = ${plan.key}, name = ${plan.name}, description = ${plan.description}, type = ${plan.type},
      status = ${plan.status}, is_default = ${plan.isDefault}, hidden = ${plan.hidden},
      price = ${plan.priceMinor}, base_price = ${plan.basePriceMinor},
      setup_fee = ${plan.setupFeeMinor}, currency = ${plan.currency},
      meter_ref = ${plan.meterRef}, terms = ${jsonb(sql, plan.terms)},
      updated_at = ${plan.updatedAt}
    where provider_id = ${providerId} and reference = ${plan.reference}`
}

/** Clears the default flag of the product's default plan, except for the plan that is to become the default. */
export async function clearDefaultPlan(
  sql: Queryable,
  providerId: string,
  productRef: string,
  exceptPlanRef: string,
): Promise<void> {
  await sql`
    update plans set is_default = false
    where provider_id = ${providerId} and product_ref = ${productRef} and is_default
      and reference <> ${exceptPlanRef} and removed_at is null`
}

export async function markPlanRemoved(
  sql: Queryable,
  providerId: string,
  reference: string,
  removedAt: Date,
): Promise<void> {
  await sql`
    update plans set removed_at = ${removedAt}
    where provider_id = ${providerId} and reference = ${reference}`
}

export async function findPlan(
  sql: Queryable,
  providerId: string,
  productRef: string,
  reference: string,
): Promise<Plan | undefined> {
  const [row] = await sql<PlanRow[]>`
    select * from plans where provider_id = ${providerId} and product_ref = ${productRef}
      and reference = ${reference} and removed_at is null`
  return row === undefined ? undefined : fromRow(row)
}

/** Returns whether the provider has the plan, of whatever product. */
export async function planExists(
  sql: Queryable,
  providerId: string,
  reference: string,
): Promise<boolean> {
  const rows = await sql`
    select 1 from plans
    where provider_id = ${providerId} and reference = ${reference} and removed_at is null`
  return rows.length > 0
}

export async function listPlans(
  sql: Queryable,
  providerId: string,
  productRefs: readonly string[],
): Promise<Plan[]> {
  if (productRefs.length === 0) return []
  const rows = await sql<PlanRow[]>`
    select * from plans
    where provider_id = ${providerId} and product_ref in ${sql(productRefs)} and removed_at is null
    order by created_at, reference`
  return rows.map(fromRow)
}

export async function listPlansPage(
  sql: Queryable,
  providerId: string,
  productRef: string,
  page: PageRange,
): Promise<{ plans: Plan[]; total: number }> {
  const matching = sql`
    from plans where provider_id = ${providerId} and product_ref = ${productRef}
      and removed_at is null`
  const order = sql`created_at, reference`
  const { rows, total } = await selectPage<PlanRow>(sql, matching, order, page)
  return { plans: rows.map(fromRow), total }
}

function fromRow(row: PlanRow): Plan {
  return {
    reference: row.reference,
    productRef: row.product_ref,
    key: row.key,
    name: row.name,
    description: row.description,
    type: row.type,
    status: row.status,
    isDefault: row.is_default,
    hidden: row.hidden,
    priceMinor: Number(row.price),
    basePriceMinor: row.base_price === null ? null : Number(row.base_price),
    setupFeeMinor: row.setup_fee === null ? null : Number(row.setup_fee),
    currency: row.currency,
    meterRef: row.meter_ref,
    terms: row.terms,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
