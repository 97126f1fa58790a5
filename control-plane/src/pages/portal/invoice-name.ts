import { documentNumberText, type Invoice } from '@tollgate/domain/invoices/invoice'
import type { Portal } from './portal.ts'

/** As people call it. */
export function invoiceName({ caller }: Portal, { number, reference }: Invoice): string {
  return number === null ? reference : documentNumberText('invoice', number, caller.environment)
}
