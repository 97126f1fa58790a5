import type { Queryable } from '@tollgate/platform/database/database'

/**
 * Requests cancellation of the customer's payments for the product that hold credit and that nobody has confirmed. Returns their
 * references.
 */
export async function requestCancelOfHolders(
  sql: Queryable,
  providerId: string,
  { customerRef, productRef }: { readonly customerRef: string; readonly productRef: string },
  now: Date,
): Promise<string[]> {
  const rows = await sql<{ reference: string }[]>`
    update payment_intents set cancel_wanted = true, next_look_at = ${now}, updated_at = ${now}
    where provider_id = ${providerId} and customer_ref = ${customerRef}
      and product_ref = ${productRef} and purpose = 'product' and balance_part > 0
      and status in ('creating', 'requires_payment_method')
    returning reference`
  return rows.map(({ reference }) => reference)
}
