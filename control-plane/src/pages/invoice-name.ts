import { documentNumberText, type Invoice } from '@tollgate/domain/invoices/invoice'
import type { Caller } from '../access/caller.ts'

/** As people call it. */
export function invoiceName(
  { caller }: { readonly caller: Caller },
  { number, reference }: Invoice,
): string {
  return number === null ? reference : documentNumberText('invoice', number, caller.environment)
}
