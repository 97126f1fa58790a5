import type { Invoice } from '@tollgate/domain/invoices/invoice'
import { dueMinor } from '@tollgate/domain/invoices/transitions'
import { exceedsCharge } from '@tollgate/domain/money/processor-amounts'
import type { Reader } from './reader.ts'

/** Returns why a held invoice cannot be paid by card: it is too large for a charge, or a person holds it. */
export function heldText(invoice: Invoice, { t }: Pick<Reader, 't'>): string {
  const isTooLarge = exceedsCharge(dueMinor(invoice), invoice.currency)
  return t(isTooLarge ? 'checkout:tooLargeForCard' : 'portal:heldText')
}
