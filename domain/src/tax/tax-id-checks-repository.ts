import type { Queryable } from '@tollgate/platform/database/database'
import type { TaxIdCheck } from './tax-id-check.ts'

type TaxIdCheckRow = {
  tax_id: string
  status: TaxIdCheck['status']
  source: TaxIdCheck['source']
  checked_at: Date
  next_check_at: Date | null
  registered_name: string | null
  registered_address: string | null
  consultation_number: string | null
  reason: string | null
}

export async function findTaxIdCheck(
  sql: Queryable,
  providerId: string,
  taxId: string,
): Promise<TaxIdCheck | undefined> {
  const [row] = await sql<TaxIdCheckRow[]>`
    select * from tax_id_checks where provider_id = ${providerId} and tax_id = ${taxId}`
  return row && fromRow(row)
}

/** Stores the check in place of an earlier one. An answer of the register never replaces the decision of a person. */
export async function saveTaxIdCheck(
  sql: Queryable,
  providerId: string,
  check: TaxIdCheck,
): Promise<void> {
  const row = toRow(check)
  await sql`
    insert into tax_id_checks ${sql({ ...row, provider_id: providerId, tax_id: check.taxId })}
    on conflict (provider_id, tax_id) do update set ${sql(row)}
    where excluded.source = 'person' or tax_id_checks.source = 'register'`
}

/**
 * Stores that the register did not answer. What is known stays, also if another request has learned it meanwhile: a number that was
 * found invalid would otherwise count as valid again.
 */
export async function postponeTaxIdCheck(
  sql: Queryable,
  providerId: string,
  unknown: TaxIdCheck,
): Promise<void> {
  await sql`
    insert into tax_id_checks
      ${sql({ ...toRow(unknown), provider_id: providerId, tax_id: unknown.taxId })}
    on conflict (provider_id, tax_id) do update set next_check_at = excluded.next_check_at
    where tax_id_checks.next_check_at <= excluded.checked_at`
}

/**
 * Removes what the register said about a tax id that no customer has any more, if it is due to be asked again. Returns whether it was
 * removed.
 */
export async function removeUnusedTaxIdCheck(
  sql: Queryable,
  providerId: string,
  taxId: string,
  now: Date,
): Promise<boolean> {
  const removed = await sql`
    delete from tax_id_checks as checked
    where provider_id = ${providerId} and tax_id = ${taxId} and next_check_at <= ${now} and not exists (
      select from customer_tax_details as details
      where details.provider_id = checked.provider_id and details.tax_id = checked.tax_id
        and details.tax_id_type = 'eu_vat')`
  return removed.count > 0
}

export async function removeTaxIdCheck(
  sql: Queryable,
  providerId: string,
  taxId: string,
): Promise<void> {
  await sql`delete from tax_id_checks where provider_id = ${providerId} and tax_id = ${taxId}`
}

function toRow(check: TaxIdCheck) {
  return {
    status: check.status,
    source: check.source,
    checked_at: check.checkedAt,
    next_check_at: check.nextCheckAt,
    registered_name: check.registeredName,
    registered_address: check.registeredAddress,
    consultation_number: check.consultationNumber,
    reason: check.reason,
  }
}

function fromRow(row: TaxIdCheckRow): TaxIdCheck {
  return {
    taxId: row.tax_id,
    status: row.status,
    source: row.source,
    checkedAt: row.checked_at,
    nextCheckAt: row.next_check_at,
    registeredName: row.registered_name,
    registeredAddress: row.registered_address,
    consultationNumber: row.consultation_number,
    reason: row.reason,
  }
}
