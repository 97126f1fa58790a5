import type { Customer } from '@tollgate/domain/customers/repository'
import { decideOnInvoice } from '@tollgate/domain/invoice-decisions/decide-on-invoice'
import type { InvoiceChange } from '@tollgate/domain/invoice-decisions/invoice-decision'
import { listInvoices } from '@tollgate/domain/invoices/repository'
import type { UnitOfWork } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { Act } from './story.ts'

type Decide = Extract<Act, { readonly do: 'decide' }>

/** Decides about the newest invoice of the customer. A part is a fixed amount, which may exceed what is left. */
export async function decideOnNewest(
  work: UnitOfWork,
  { reference: customerRef }: Customer,
  { what, isPart }: Decide,
): Promise<void> {
  const { sql, providerId } = work
  const page = { limit: 1, offset: 0 }
  const { invoices } = await listInvoices(sql, providerId, { customerRef }, page)
  const [newest] = invoices
  if (newest === undefined) return
  const change = { kind: what, ...(isPart ? { amountMinor: 150n } : {}) } as InvoiceChange
  await decideOnInvoice(work, { invoiceRef: newest.reference, change, reason: 'decided' })
}
