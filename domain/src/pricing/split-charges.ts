import type { BillingStrategy } from '@tollgate/schemas/http/plan-terms'
import type { InvoiceLine } from './invoice-line.ts'

/** Parts of a purchase that an invoice charges: the price of a period when it begins, and its usage after it has ended. */
export const chargedParts = ['recurring', 'usage'] as const
export type ChargedPart = (typeof chargedParts)[number]

export type Charges = Readonly<Record<ChargedPart, readonly InvoiceLine[]>>

/** A future invoice: its parts, in the order of their lines. */
export type ChargeGroup = { readonly parts: readonly ChargedPart[]; readonly lines: InvoiceLine[] }

/**
 * Returns the invoices for the charges at one boundary between periods, in the order in which they are paid. All strategies have
 * the same total. Parts without lines get no invoice.
 */
export function splitCharges(
  charges: Charges,
  strategy: BillingStrategy = 'recurring_first',
): ChargeGroup[] {
  const groups: readonly (readonly ChargedPart[])[] = groupsOf[strategy]
  return groups
    .map((group) => group.filter((part) => charges[part].length > 0))
    .filter((parts) => parts.length > 0)
    .map((parts) => ({ parts, lines: parts.flatMap((part) => charges[part]) }))
}

const groupsOf: Readonly<Record<BillingStrategy, readonly (readonly ChargedPart[])[]>> = {
  recurring_first: [['recurring'], ['usage']],
  usage_first: [['usage'], ['recurring']],
  combined: [['recurring', 'usage']],
}
