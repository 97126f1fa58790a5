import { listDebts } from '@tollgate/domain/invoices/debts'
import type { Invoice } from '@tollgate/domain/invoices/invoice'
import { findInvoice } from '@tollgate/domain/invoices/repository'
import { read, type ReadParts } from '../../access/read.ts'
import type { Checkout } from './checkout.ts'

/** Returns the unpaid invoices for the checkout's product that the customer must pay before a plan starts, oldest first. */
export function readDebts(
  pages: ReadParts,
  { caller, customer, session }: Checkout,
): Promise<readonly Invoice[]> {
  const { providerId } = caller
  const { productRef } = session
  if (productRef === null) return Promise.resolve([])
  return read(pages, caller, async (sql) => {
    const of = { customerRef: customer.reference, productRef }
    const references = await listDebts(sql, providerId, of)
    const found = await Promise.all(references.map((each) => findInvoice(sql, providerId, each)))
    return found.filter((invoice) => invoice !== undefined)
  })
}
