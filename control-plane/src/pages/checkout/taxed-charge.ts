import { findTax } from '@tollgate/domain/invoices/read-tax'
import { paymentLine } from '@tollgate/domain/invoices/taxed-sale'
import { readAnswered, type AnsweredParts } from '@tollgate/domain/unit-of-work/read-answered'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { ReadParts } from '../../access/read.ts'
import type { Checkout } from './checkout.ts'
import { discountedCharge, type DiscountsBefore } from './discounted-charge.ts'
import type { NextCharge } from './next-charge.ts'

/** Returns the charge less its discounts, with `isPlusTax` by the tax details that are stored for the customer. */
export async function taxedCharge(
  pages: AnsweredParts & ReadParts & { readonly clock: Clock },
  { caller, session }: Pick<Checkout, 'caller' | 'session'>,
  listed: NextCharge | undefined,
  before: DiscountsBefore,
): Promise<NextCharge | undefined> {
  const next = await discountedCharge(pages, { caller, session }, listed, before)
  if (next === undefined) return undefined
  const { customerRef, productRef } = session
  const { plan, currency, priceMinor, at } = next
  const lines = [paymentLine('plan', priceMinor)]
  const sale = { customerRef, productRef, plan, currency, lines }
  const { providerId, environment } = caller
  const tax = await readAnswered(pages, { providerId, environment, now: at }, (reading) =>
    findTax(reading, sale),
  )
  return { ...next, isPlusTax: tax?.treatment === 'standard' && !tax.isInclusive }
}
