import { startedPurchase } from '../billing/apply-scheduled-change.ts'
import { decideDueChange } from '../purchases/decide-scheduled-change.ts'
import { linkToPredecessor } from '../purchases/link-to-predecessor.ts'
import { fieldsOfEnd, movedPurchase } from '../purchases/move-purchase.ts'
import type { Purchase } from '../purchases/repository.ts'
import { scheduledPurchase } from '../purchases/schedule-plan.ts'
import type { ReadingAt } from '../unit-of-work/unit-of-work.ts'
import type { InvoicesToPreview } from './preview-invoices.ts'
import type { PlannedInvoice } from './price-invoices.ts'

/** Purchases whose bills are previewed, and the invoice of a change between them. */
export type PurchasesAhead = Pick<InvoicesToPreview, 'purchases'> & {
  readonly today: readonly PlannedInvoice[]
}

/**
 * Returns the purchase with the one that replaces it before its next renewal, if a change within the period is scheduled. Unpaid
 * invoices, for which the change would wait, are assumed to be paid.
 */
export async function readScheduledAhead(
  { sql, providerId, now: today }: ReadingAt,
  held: Purchase,
): Promise<PurchasesAhead> {
  const unchanged = { purchases: [{ purchase: held }], today: [] }
  const { scheduledPlanAt, scheduledBilling } = held
  if (scheduledPlanAt === null || scheduledBilling === undefined) return unchanged
  const now = scheduledPlanAt > today ? scheduledPlanAt : today
  const decision = decideDueChange(held, false, now)
  if (decision.kind === 'renewal') {
    const { scheduledPlan: plan } = held
    const later = plan && scheduledPurchase(held, { plan, at: decision.at })
    return { ...unchanged, purchases: [{ purchase: later ?? held }] }
  }
  if (decision.kind !== 'change') return unchanged
  const { plan, change } = decision
  const replaced = movedPurchase(held, 'expired', fieldsOfEnd(now), now)
  const at = { sql, providerId, now }
  const alone = await startedPurchase(at, held, plan, change)
  const linked = await linkToPredecessor(at, alone, { previous: held, replaced }, false)
  // All purchases of the customer and product have the same overrides.
  const started = { ...linked, overrides: held.overrides }
  const unstored = { taxedAsRef: held.reference, endOfPrevious: now }
  const invoice: PlannedInvoice = {
    ...{ cause: 'plan_change', purchaseRef: null, taxedAsRef: held.reference, plan, at: now },
    ...{ currency: held.currency, lines: change?.lines ?? [] },
    ...{ mayStayDraft: true, takesItems: false },
  }
  return {
    purchases: [{ purchase: replaced }, { purchase: started, unstored }],
    today: invoice.lines.length === 0 ? [] : [invoice],
  }
}
