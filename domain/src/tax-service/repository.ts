import type { Queryable } from '@tollgate/platform/database/database'
import type { TaxService, TaxServicePolicy } from './tax-service.ts'

type Row = {
  url: string
  secret: string
  on_failure: TaxServicePolicy
  created_at: Date
  updated_at: Date
}

export async function findTaxService(
  sql: Queryable,
  providerId: string,
): Promise<TaxService | undefined> {
  const [row] = await sql<Row[]>`select * from tax_services where provider_id = ${providerId}`
  if (row === undefined) return undefined
  return {
    url: row.url,
    sealedSecret: row.secret,
    onFailure: row.on_failure,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

/** Stores the service. One that exists keeps the time of its creation. */
export async function saveTaxService(
  sql: Queryable,
  providerId: string,
  { url, sealedSecret, onFailure, createdAt, updatedAt }: TaxService,
): Promise<void> {
  const changed = { url, secret: sealedSecret, on_failure: onFailure, updated_at: updatedAt }
  await sql`
    insert into tax_services ${sql({ ...changed, provider_id: providerId, created_at: createdAt })}
    on conflict (provider_id) do update set ${sql(changed)}`
}

export async function deleteTaxService(sql: Queryable, providerId: string): Promise<void> {
  await sql`delete from tax_services where provider_id = ${providerId}`
}
