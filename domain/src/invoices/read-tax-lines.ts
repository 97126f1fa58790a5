import type { Queryable } from '@tollgate/platform/database/database'
import type { InvoiceLine } from '../pricing/invoice-line.ts'
import { taxLines } from '../pricing/tax-line.ts'
import { readTaxTerms } from './read-tax-terms.ts'
import { findTaxDetails } from '../tax/tax-details-repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { Invoice } from './invoice.ts'

/** An invoice before its tax is computed. */
type Untaxed = Pick<Invoice, 'customerRef' | 'purchaseRef' | 'planSnapshot' | 'currency'> & {
  readonly lines: readonly InvoiceLine[]
}

/**
 * Returns the tax lines of an invoice that is made now, from the customer's tax details. Returns no lines if the
 * customer never entered tax details.
 */
export async function readTaxLines(
  { sql, providerId, now }: Pick<UnitOfWork, 'sql' | 'providerId' | 'now'>,
  { customerRef, purchaseRef, planSnapshot: plan, currency, lines }: Untaxed,
): Promise<InvoiceLine[]> {
  const details = await findTaxDetails(sql, providerId, customerRef)
  if (details === undefined) return []
  const productRef = await findProductOf(sql, providerId, purchaseRef)
  const sale = { productRef, plan, currency }
  return taxLines(lines, await readTaxTerms(sql, providerId, sale, details, now))
}

async function findProductOf(
  sql: Queryable,
  providerId: string,
  purchaseRef: string | null,
): Promise<string | null> {
  if (purchaseRef === null) return null
  const [row] = await sql<{ product_ref: string }[]>`
    select product_ref from purchases
    where provider_id = ${providerId} and reference = ${purchaseRef}`
  return row?.product_ref ?? null
}
