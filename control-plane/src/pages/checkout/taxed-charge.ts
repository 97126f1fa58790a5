import { findTax } from '@tollgate/domain/invoices/read-tax'
import { read, type ReadParts } from '../../access/read.ts'
import type { Checkout } from './checkout.ts'
import type { NextCharge } from './next-charge.ts'

/** Returns the charge with `isPlusTax`, by the tax details that are stored for the customer. */
export async function taxedCharge(
  pages: ReadParts,
  { caller, session }: Pick<Checkout, 'caller' | 'session'>,
  next: NextCharge | undefined,
): Promise<NextCharge | undefined> {
  if (next === undefined) return undefined
  const { customerRef, productRef } = session
  const { plan, currency, priceMinor, at } = next
  const sale = { customerRef, productRef, plan, currency }
  const tax = await read(pages, caller, (sql) =>
    findTax(sql, caller.providerId, sale, priceMinor, at),
  )
  return { ...next, isPlusTax: tax?.treatment === 'standard' && !tax.isInclusive }
}
