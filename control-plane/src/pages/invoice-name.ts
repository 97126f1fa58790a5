import { documentNumberText, type Invoice } from '@tollgate/domain/invoices/invoice'
import type { Caller } from '../access/caller.ts'

/** Returns the invoice's number, or its reference if it has no number yet. */
export function invoiceName(
  { caller }: { readonly caller: Caller },
  { number, reference }: Invoice,
): string {
  return number === null ? reference : documentNumberText('invoice', number, caller.environment)
}
