import type { Queryable } from '@tollgate/platform/database/database'
import { lockCustomer } from '../customers/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { TaxIdType } from './tax-countries.ts'
import {
  decideTaxDetails,
  type EnteredTaxDetails,
  type TaxDetails,
  type TaxDetailsDecision,
} from './tax-details.ts'

type TaxDetailsRow = {
  is_business: boolean
  business_name: string | null
  customer_name: string | null
  country: string | null
  region: string | null
  tax_id: string | null
  tax_id_type: TaxIdType | null
  address: string | null
  email: string | null
}

/** Stores the tax details of a customer in place of earlier ones. */
export async function saveTaxDetails(
  sql: Queryable,
  providerId: string,
  customerRef: string,
  details: TaxDetails,
  now: Date,
): Promise<void> {
  const row = {
    is_business: details.isBusiness,
    business_name: details.businessName,
    customer_name: details.customerName,
    country: details.country,
    region: details.region ?? null,
    tax_id: details.taxId,
    tax_id_type: details.taxIdType,
    address: details.address ?? null,
    email: details.email ?? null,
    updated_at: now,
  }
  const key = { provider_id: providerId, customer_ref: customerRef }
  await sql`
    insert into customer_tax_details ${sql({ ...row, ...key })}
    on conflict (provider_id, customer_ref) do update set ${sql(row)}`
}

export async function findTaxDetails(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<TaxDetails | undefined> {
  const [row] = await sql<TaxDetailsRow[]>`
    select * from customer_tax_details
    where provider_id = ${providerId} and customer_ref = ${customerRef}`
  if (row === undefined) return undefined
  return {
    isBusiness: row.is_business,
    businessName: row.business_name,
    customerName: row.customer_name,
    country: row.country,
    ...(row.region !== null && { region: row.region }),
    taxId: row.tax_id,
    taxIdType: row.tax_id_type,
    address: row.address,
    email: row.email,
  }
}

/** Removes the tax details of a customer, and what is known about a tax id that no other customer has. */
export async function removeTaxDetails(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<void> {
  await sql`
    delete from tax_id_checks as checked
    where provider_id = ${providerId} and tax_id in (
      select tax_id from customer_tax_details
      where provider_id = ${providerId} and customer_ref = ${customerRef})
      and not exists (
        select from customer_tax_details as others
        where others.provider_id = checked.provider_id and others.tax_id = checked.tax_id
          and others.customer_ref <> ${customerRef})`
  await sql`
    delete from customer_tax_details
    where provider_id = ${providerId} and customer_ref = ${customerRef}`
}

/**
 * Replaces the tax details of a customer if they are valid. Later invoices use them, and issued invoices stay unchanged. A customer who
 * was deleted meanwhile gets none, because the deletion has removed them under the same lock.
 */
export async function changeTaxDetails(
  { sql, providerId, now }: Pick<UnitOfWork, 'sql' | 'providerId' | 'now'>,
  customerRef: string,
  entered: EnteredTaxDetails,
): Promise<TaxDetailsDecision> {
  const customer = await lockCustomer(sql, providerId, customerRef)
  const decision = decideTaxDetails(entered, await findTaxDetails(sql, providerId, customerRef))
  if (decision.kind === 'accept' && customer !== undefined) {
    await saveTaxDetails(sql, providerId, customerRef, decision.details, now)
  }
  return decision
}
