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
  const row = {
    status: check.status,
    source: check.source,
    checked_at: check.checkedAt,
    next_check_at: check.nextCheckAt,
    registered_name: check.registeredName,
    registered_address: check.registeredAddress,
    consultation_number: check.consultationNumber,
    reason: check.reason,
  }
  await sql`
    insert into tax_id_checks ${sql({ ...row, provider_id: providerId, tax_id: check.taxId })}
    on conflict (provider_id, tax_id) do update set ${sql(row)}
    where excluded.source = 'person' or tax_id_checks.source = 'register'`
}

export async function removeTaxIdCheck(
  sql: Queryable,
  providerId: string,
  taxId: string,
): Promise<void> {
  await sql`delete from tax_id_checks where provider_id = ${providerId} and tax_id = ${taxId}`
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
