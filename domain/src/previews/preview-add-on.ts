import type { AddOnTime } from '@tollgate/schemas/http/add-ons'
import { readAddOnDecision } from '../billing/change-add-ons.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { pricesIn } from '../pricing/plan-prices.ts'
import type { AddOnChange, AddOnDecision, AddOnObstacle } from '../purchases/decide-add-ons.ts'
import { planAfterChange } from '../purchases/offered-plan.ts'
import type { Purchase } from '../purchases/repository.ts'
import { readAnswered } from '../unit-of-work/read-answered.ts'
import type { PreviewAt, PreviewParts } from './preview-invoices.ts'
import type { HeldPurchase } from './preview-purchase.ts'
import { priceInvoices, type PlannedInvoice, type PreviewedInvoice } from './price-invoices.ts'

export type AddOnPreview =
  | { readonly kind: 'refused'; readonly obstacle: AddOnObstacle }
  | {
      readonly kind: 'changes'
      readonly when: AddOnTime
      readonly effectiveAt: Date
      /** What is charged or credited at once, with its tax. Undefined if nothing is. */
      readonly invoice: PreviewedInvoice | undefined
      /** Price of the next period with its add-ons, before discounts and tax. Minor units. */
      readonly nextMinor: bigint
    }

/** Returns what a change of an add-on would charge or credit now, and what the next period costs, by the decision that makes the change. */
export async function previewAddOn(
  parts: PreviewParts,
  at: PreviewAt,
  { purchase, customer }: HeldPurchase,
  change: AddOnChange,
): Promise<AddOnPreview> {
  return readAnswered(parts, at, async (reading): Promise<AddOnPreview> => {
    const decision = await readAddOnDecision(reading, purchase, change)
    if (decision.kind === 'refused') return decision
    const [invoice] = await priceInvoices(
      reading,
      customer.reference,
      todayOf(decision, purchase, at.now),
    )
    return {
      ...{ kind: 'changes', invoice, nextMinor: nextPrice(decision, purchase) },
      when: decision.kind === 'renewal' ? 'renewal' : 'now',
      effectiveAt: decision.kind === 'renewal' ? decision.at : at.now,
    }
  })
}

function todayOf(decision: AddOnDecision, { reference }: Purchase, now: Date): PlannedInvoice[] {
  if (decision.kind !== 'now' || decision.change.lines.length === 0) return []
  const { plan, currency, lines } = decision.change
  const of = { cause: 'plan_change', purchaseRef: null, taxedAsRef: reference, plan } as const
  return [{ ...of, currency, lines, at: now, mayStayDraft: true, takesItems: false }]
}

function nextPrice(decision: AddOnDecision, held: Purchase): bigint {
  const plan = planAfter(decision, held)
  const { nextBillingDate: at, currency } = held
  if (plan === null || at === null) return 0n
  return pricesIn(planAfterChange(plan, held, at), currency)?.priceMinor ?? 0n
}

/** Returns the terms of the next period. */
function planAfter(decision: AddOnDecision, held: Purchase): PlanSnapshot | null {
  switch (decision.kind) {
    case 'now':
      return decision.ahead ?? decision.change.plan
    case 'renewal':
      return decision.change?.plan ?? held.planSnapshot
    case 'in-trial':
      return decision.ahead?.plan ?? decision.plan
    case 'unchanged':
    case 'refused':
      return held.scheduledPlan ?? held.planSnapshot
  }
}
