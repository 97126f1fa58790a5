import type { PlanSnapshot } from '../plans/plan-snapshot.ts'

/**
 * A sale whose tax is to be computed. Whether the price includes the tax depends on the product, the plan and the
 * currency.
 */
export type TaxedSale = {
  readonly customerRef: string
  readonly productRef: string | null
  readonly plan: Pick<PlanSnapshot, 'reference' | 'terms'> | null
  readonly currency: string
  /** What is sold, before tax. The provider's tax service decides by it. */
  readonly lines: readonly SoldLine[]
}

type SoldLine = {
  readonly description: string
  readonly amountMinor: bigint
  readonly inputs: { readonly kind: string }
}

/** Returns the line of a payment, which has no lines of an invoice yet. */
export function paymentLine(purpose: 'plan' | 'credits', amountMinor: bigint): SoldLine {
  const description = purpose === 'plan' ? 'Plan' : 'Credits'
  const kind = purpose === 'plan' ? 'recurring' : 'credits'
  return { description, amountMinor, inputs: { kind } }
}
