import type { Queryable } from '@tollgate/platform/database/database'
import { creditedDiscountLines, discountedMinor, discountLines } from '../coupons/discount-lines.ts'
import { listDiscountsFor } from '../coupons/discounts-repository.ts'
import { listDiscountedUsage } from '../invoices/discounted-usage.ts'
import { findProductOf } from '../invoices/read-tax.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import type { InvoiceLine } from '../pricing/invoice-line.ts'

/** The discounts of a customer while invoices are previewed one after the other, each of which uses one of their invoices. */
export type DiscountsAhead = {
  /** Returns the discount lines of the next invoice. `heldRef`: a stored purchase of the product, whose discounts apply. */
  linesOf(
    invoice: {
      readonly lines: readonly InvoiceLine[]
      readonly plan: PlanSnapshot
      readonly currency: string
      /** Null for a purchase that does not exist yet. */
      readonly purchaseRef: string | null
    },
    heldRef: string,
  ): Promise<InvoiceLine[]>
  /** Counts an invoice that contains its discounts. */
  countLines(lines: readonly InvoiceLine[]): void
}

export function discountsAhead(
  { sql, providerId }: { readonly sql: Queryable; readonly providerId: string },
  customerRef: string,
): DiscountsAhead {
  const used = new Map<string, number>()
  const count = (reference: string): void => {
    used.set(reference, (used.get(reference) ?? 0) + 1)
  }
  return {
    linesOf: async ({ lines, plan, currency, purchaseRef }, heldRef) => {
      const billed =
        purchaseRef === null
          ? new Map()
          : await listDiscountedUsage(sql, providerId, purchaseRef, lines)
      const credited = creditedDiscountLines(lines, billed)
      const baseMinor = discountedMinor(lines)
      const productRef = await findProductOf(sql, providerId, heldRef)
      if (baseMinor === 0n || productRef === null) return credited
      const of = { customerRef, purchaseRef: heldRef, productRef }
      const sale = { ...of, planRef: plan.reference, currency }
      const running = (await listDiscountsFor(sql, providerId, sale)).filter(
        ({ reference, invoicesLeft }) =>
          invoicesLeft === null || invoicesLeft > (used.get(reference) ?? 0),
      )
      const taken = discountLines(baseMinor, running)
      for (const { discountRef } of taken) count(discountRef)
      return [...taken.map(({ line }) => line), ...credited]
    },
    countLines: (lines) => {
      for (const { inputs } of lines) {
        // The discounts of a change of plan continue those of its period, which was counted.
        if (inputs.kind !== 'discount' || inputs.discount === undefined) continue
        if (inputs.by === 'percent' || inputs.by === 'amount') count(inputs.discount)
      }
    },
  }
}
