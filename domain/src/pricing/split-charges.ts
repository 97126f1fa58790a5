import type { BillingStrategy } from '@tollgate/schemas/http/plan-terms'
import type { InvoiceLine } from './invoice-line.ts'

/** What of a purchase an invoice charges: what is paid as a period begins, and usage once it has ended. */
export const chargedParts = ['recurring', 'usage'] as const
export type ChargedPart = (typeof chargedParts)[number]

export type Charges = Readonly<Record<ChargedPart, readonly InvoiceLine[]>>

/** One invoice to be: its parts in the order in which their lines stand on it. */
export type ChargeGroup = { readonly parts: readonly ChargedPart[]; readonly lines: InvoiceLine[] }

/**
 * The invoices that become of what is charged at one boundary between periods, in the order in which they are paid. The
 * strategies come to the same sum; parts that have no lines have no invoice.
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
