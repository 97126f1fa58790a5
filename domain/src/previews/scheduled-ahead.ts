import { startedPurchase } from '../billing/apply-scheduled-change.ts'
import { decideDueChange } from '../purchases/decide-scheduled-change.ts'
import { continuedTrial } from '../purchases/continued-trial.ts'
import { linkToPredecessor } from '../purchases/link-to-predecessor.ts'
import { fieldsOfEnd, movedPurchase } from '../purchases/move-purchase.ts'
import type { Purchase } from '../purchases/repository.ts'
import { scheduledPurchase } from '../purchases/schedule-plan.ts'
import type { ReadingAt } from '../unit-of-work/unit-of-work.ts'
import { readDiscountsOfRunningPeriod } from './discounts-of-running-period.ts'
import { afterOverdueRenewals } from './plan-bills.ts'
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
  // A renewal that is overdue comes first, and applies a change of its time or before.
  const isAfterRenewal = held.nextBillingDate !== null && held.nextBillingDate < scheduledPlanAt
  const current = isAfterRenewal ? afterOverdueRenewals(held, today) : held
  const discounts = await readDiscountsOfRunningPeriod({ sql, providerId, now: today }, held)
  const decision = decideDueChange(current, false, now, discounts)
  if (decision.kind === 'renewal') {
    const { scheduledPlan: plan } = held
    // The change takes effect with the first renewal that is not overdue.
    const later =
      plan && scheduledPurchase(held, { plan, at: decision.at, termsAt: held.scheduledTermsAt })
    return { ...unchanged, purchases: [{ purchase: later ?? held }] }
  }
  if (decision.kind !== 'change') return unchanged
  const { plan, change } = decision
  const replaced = movedPurchase(current, 'expired', fieldsOfEnd(now), now)
  const at = { sql, providerId, now }
  const linked =
    current.status === 'trialing'
      ? await continuedTrial(at, current, plan, customerOf(current))
      : await linkToPredecessor(
          at,
          await startedPurchase(at, current, plan, change),
          { previous: current, replaced },
          false,
        )
  // All purchases of the customer and product have the same overrides.
  const started = { ...linked, overrides: held.overrides }
  const unstored = { taxedAsRef: held.reference, endOfPrevious: now }
  const invoice: PlannedInvoice = {
    ...{ cause: 'plan_change', purchaseRef: null, taxedAsRef: held.reference, plan, at: now },
    ...{ currency: held.currency, lines: change?.lines ?? [] },
    ...{ mayStayDraft: true, takesItems: false },
  }
  return {
    // With its end, a purchase that is overdue is charged for the periods that have begun, and for none after.
    purchases: [
      { purchase: current === held ? replaced : { ...held, endDate: now } },
      { purchase: started, unstored },
    ],
    today: invoice.lines.length === 0 ? [] : [invoice],
  }
}

function customerOf({ customerRef, customerEmail }: Purchase) {
  return { reference: customerRef, email: customerEmail }
}
