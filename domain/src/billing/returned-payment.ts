import { randomBytes } from 'node:crypto'
import type { Queryable } from '@tollgate/platform/database/database'

/**
 * Returns a random secret for the URL to which the bank sends the customer back. The URL cannot be guessed, so a
 * request to it comes from a customer whom Tollgate sent to the bank.
 */
export function generateReturnSecret(): string {
  return randomBytes(16).toString('base64url')
}

/** The payment for which a customer was sent to the bank. */
export type ReturnedPayment = {
  readonly providerId: string
  readonly customerRef: string
  readonly invoiceRef: string
}

/**
 * Returns the invoice payment that was confirmed with this return URL, or undefined. Searches the payments of all
 * providers.
 */
export async function findReturnedPayment(
  sql: Queryable,
  intentRef: string,
  returnUrl: string,
): Promise<ReturnedPayment | undefined> {
  const [row] = await sql<{ provider_id: string; customer_ref: string; invoice_ref: string }[]>`
    select intents.provider_id, intents.customer_ref, intents.invoice_ref
    from payment_intents as intents
    join payment_attempts as attempts on attempts.provider_id = intents.provider_id
      and attempts.intent_ref = intents.reference
    where intents.reference = ${intentRef} and intents.invoice_ref is not null
      and attempts.operation = 'confirm' and attempts.request ->> 'returnUrl' = ${returnUrl}
    limit 1`
  if (row === undefined) return undefined
  const { provider_id: providerId, customer_ref: customerRef, invoice_ref: invoiceRef } = row
  return { providerId, customerRef, invoiceRef }
}
