import {
  creditedDiscountLines,
  discountedMinor,
  discountLines,
  shareOf,
} from '../coupons/discount-lines.ts'
import {
  countInvoiceOf,
  insertPeriodDiscounts,
  lockDiscountsFor,
} from '../coupons/discounts-repository.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { totalOf, type InvoiceLine } from '../pricing/invoice-line.ts'
import type { LineKind } from '../pricing/line-inputs.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { PeriodClaim } from './billed-periods.ts'
import { listDiscountedUsage } from './discounted-usage.ts'

/** The purchase whose discounts an invoice takes off. */
export type DiscountedInvoice = {
  readonly customerRef: string
  readonly purchaseRef: string
  readonly productRef: string
  readonly plan: PlanSnapshot
  readonly currency: string
  readonly lines: readonly InvoiceLine[]
}

/**
 * Returns the discount lines of an invoice that is made now, and counts it for each of its discounts. Both commit with the invoice, so a
 * discount never applies to more invoices than it has.
 */
export async function takeDiscounts(
  { sql, providerId }: Pick<UnitOfWork, 'sql' | 'providerId'>,
  { customerRef, purchaseRef, productRef, plan, currency, lines }: DiscountedInvoice,
): Promise<InvoiceLine[]> {
  const billed = await listDiscountedUsage(sql, providerId, purchaseRef, lines)
  const credited = creditedDiscountLines(lines, billed)
  const baseMinor = discountedMinor(lines)
  if (baseMinor === 0n) return credited
  const sale = { customerRef, purchaseRef, productRef, planRef: plan.reference, currency }
  const taken = discountLines(baseMinor, await lockDiscountsFor(sql, providerId, sale))
  const references = taken.map(({ discountRef }) => discountRef)
  await countInvoiceOf(sql, providerId, references)
  return [...taken.map(({ line }) => line), ...credited]
}

/** Stores what the discounts of an invoice take off the price of the period that it begins. */
export async function storePeriodDiscounts(
  { sql, providerId }: Pick<UnitOfWork, 'sql' | 'providerId'>,
  purchaseRef: string,
  lines: readonly InvoiceLine[],
  claims: readonly PeriodClaim[],
): Promise<void> {
  const begun = claims.find(({ part }) => part === 'recurring')
  if (begun === undefined) return
  const amounts = discountsOfPrice(lines)
  await insertPeriodDiscounts(sql, providerId, purchaseRef, begun.period.start, amounts)
}

/** Returns what each discount among the lines takes off the price of the period, and what it takes off the other lines. Minor units. */
export function discountsOfPrice(lines: readonly InvoiceLine[]): {
  readonly discountRef: string
  readonly amountMinor: bigint
  readonly elsewhereMinor: bigint
}[] {
  const baseMinor = discountedMinor(lines)
  const ofPeriod: ReadonlySet<LineKind> = new Set(['recurring', 'add_on'])
  const priceMinor = totalOf(lines.filter(({ inputs }) => ofPeriod.has(inputs.kind)))
  return lines.flatMap(({ inputs, amountMinor }) => {
    if (inputs.kind !== 'discount' || inputs.discount === undefined) return []
    const share = shareOf(-amountMinor, priceMinor, baseMinor)
    const elsewhereMinor = -amountMinor - share
    return [{ discountRef: inputs.discount, amountMinor: share, elsewhereMinor }]
  })
}
