import { findStartRefusal } from '../billing/activate-plan.ts'
import { canStartTrial } from '../billing/start-trial.ts'
import { findPlan } from '../catalog/plans-repository.ts'
import { findProduct } from '../catalog/products-repository.ts'
import { isPack } from '../packs/pack-terms.ts'
import { isSoldOut } from '../plans/sold-out.ts'
import type { Plan } from '../plans/plan.ts'
import { snapshotOf, type PlanSnapshot } from '../plans/plan-snapshot.ts'
import { findProvider } from '../providers/repository.ts'
import {
  decideActivation,
  requiresCard,
  type ActivationDecision,
} from '../purchases/decide-activation.ts'
import { readActivationState } from '../purchases/read-activation-state.ts'
import type { Purchase } from '../purchases/repository.ts'
import { scheduledPurchase, withdrawablePlan } from '../purchases/schedule-plan.ts'
import { unusedTimeOf, type UnusedTime } from '../purchases/unused-time.ts'
import { listLostUnits, type LostUnits } from './lost-units.ts'
import { findDiscountedStart, type DiscountedStart } from '../purposes/start-discounted.ts'
import {
  discountedStart,
  trialStart,
  unpaidStart,
  type PlanStart,
  type StartFacts,
  type StartNeed,
} from './plan-start.ts'
import {
  previewInvoices,
  type PreviewAt,
  type PreviewedInvoices,
  type PreviewParts,
} from './preview-invoices.ts'
import type { HeldPurchase } from './preview-purchase.ts'
import { priceStart } from './price-start.ts'
import type { PlannedInvoice } from './price-invoices.ts'
import { startAhead } from './start-ahead.ts'

export type ChangeToPreview = HeldPurchase & {
  readonly planRef: string
  /** Currency in upper case; undefined for that of the purchase or the plan. */
  readonly currency?: string | undefined
}

export type ChangePreview =
  | { readonly kind: 'refused'; readonly reason: string }
  /** The customer has the plan. Choosing it withdraws the scheduled change to another plan, if there is one. */
  | { readonly kind: 'already-active'; readonly withdrawn: PlanSnapshot | null }
  /** The customer must first pay earlier invoices for the product. */
  | { readonly kind: 'debts-first'; readonly plan: Plan }
  | ({ readonly kind: 'begins' } & PlanBeginning & PreviewedInvoices)

export type PlanBeginning = {
  readonly plan: Plan
  readonly needs: StartNeed
  readonly startsAt: Date
  /** End of the trial with which the plan begins; undefined if it begins without one. */
  readonly trialEndsAt: Date | undefined
  /** Undefined if no paid time is left, or the plan begins with a renewal. */
  readonly unusedTime: UnusedTime | undefined
  /** Units that the plan before would have carried over to its next period. */
  readonly lostUnits: readonly LostUnits[]
  /** Units that the price of the running period includes after the change, 10^-6; null for as many as the plan includes. */
  readonly includedMicros: bigint | null
  /** Whether usage of the running period counts against the units of the new plan. */
  readonly sharesUsage: boolean
}

/**
 * Returns what a change to another plan of the product would do now: what is charged or credited today, the bill of the plan before and
 * the next invoice. The decision is that of the request that activates the plan, and of the payment for it.
 */
export async function previewChange(
  parts: PreviewParts,
  at: PreviewAt,
  change: ChangeToPreview,
): Promise<ChangePreview> {
  const facts = await readStartFacts(parts, at, change)
  if (facts === undefined) return { kind: 'refused', reason: 'There is no such product' }
  const decision = decideActivation(facts.input)
  switch (decision.kind) {
    case 'invalid':
      return { kind: 'refused', reason: decision.reason }
    case 'already-active':
      return { kind: 'already-active', withdrawn: withdrawablePlan(decision.purchase) }
    case 'schedule':
      return previewScheduled(parts, at, change, decision, 'nothing')
    case 'card-required':
      return decision.start.kind === 'schedule'
        ? previewScheduled(parts, at, change, decision.start, 'card')
        : previewStart(parts, at, change, facts, unpaidStart(facts, decision.start, 'card'))
    case 'activate': {
      const reason = await findRefusal(parts, at, change, decision)
      if (reason !== undefined) return { kind: 'refused', reason }
      return previewStart(parts, at, change, facts, unpaidStart(facts, decision, 'nothing'))
    }
    case 'payment-required':
      if (decision.hasDebts) return { kind: 'debts-first', plan: decision.plan }
      return previewPaid(parts, at, change, facts, decision.plan)
  }
}

async function readStartFacts(
  { database }: PreviewParts,
  { providerId, environment, now }: PreviewAt,
  { purchase: { productRef }, customer: { reference: customerRef }, planRef }: ChangeToPreview,
): Promise<StartFacts | undefined> {
  const own = database.of(providerId)
  const provider = await own.control.read((sql) => findProvider(sql, providerId))
  if (provider === undefined) throw new Error(`provider ${providerId} is gone`)
  return own.in(environment).read(async (sql) => {
    const product = await findProduct(sql, providerId, productRef)
    if (product === undefined) return undefined
    const plan = await findPlan(sql, providerId, productRef, planRef)
    const state = await readActivationState(sql, providerId, { customerRef, productRef, planRef })
    const soldOut = plan !== undefined && (await isSoldOut(sql, providerId, plan, customerRef))
    const input = { product, plan, ...state, isSoldOut: soldOut, now }
    return { input, product, cycleMode: provider.cycleMode }
  })
}

function findRefusal(
  { database }: PreviewParts,
  { providerId, environment }: PreviewAt,
  { customer, purchase: { productRef } }: ChangeToPreview,
  decision: Extract<ActivationDecision, { kind: 'activate' }>,
): Promise<string | undefined> {
  const of = { customerRef: customer.reference, productRef }
  const rows = database.of(providerId).in(environment)
  return rows.read((sql) => findStartRefusal({ sql, providerId }, decision, of))
}

/** The plan begins at a renewal. Until then the purchase stays as it is. */
async function previewScheduled(
  parts: PreviewParts,
  at: PreviewAt,
  { customer }: ChangeToPreview,
  { plan, change }: Extract<ActivationDecision, { kind: 'schedule' }>,
  needs: StartNeed,
): Promise<ChangePreview> {
  const scheduled = scheduledPurchase(change.from, { ...change, termsAt: at.now })
  const purchases = [{ purchase: scheduled }]
  const invoices = await previewInvoices(parts, at, { customer, purchases })
  const kept = { unusedTime: undefined, lostUnits: [], includedMicros: null, sharesUsage: false }
  const begins = { plan, needs, startsAt: change.at, trialEndsAt: undefined, ...kept }
  return { kind: 'begins', ...begins, ...invoices }
}

/** The plan begins with a payment, or with its trial. */
async function previewPaid(
  parts: PreviewParts,
  at: PreviewAt,
  change: ChangeToPreview,
  facts: StartFacts,
  plan: Plan,
): Promise<ChangePreview> {
  const { input } = facts
  if (canStartTrial(input)) {
    const needs = requiresCard(plan) && !input.hasCard ? 'card' : 'nothing'
    return previewStart(parts, at, change, facts, trialStart(facts, plan, needs))
  }
  const { customer, currency } = change
  const discounted = await readDiscountedStart(parts, at, customer, input)
  if (discounted !== undefined) {
    return previewStart(
      parts,
      at,
      change,
      facts,
      discountedStart(facts, customer, discounted, at.now),
    )
  }
  const priced = await priceStart(parts, at, facts, { customer, plan, currency })
  if (priced.kind === 'refused') return priced
  return previewStart(parts, at, change, facts, priced.start)
}

/** Reads whether discounts leave nothing to pay, in the currency of the plan. */
function readDiscountedStart(
  { database }: PreviewParts,
  { providerId, environment, now }: PreviewAt,
  { reference }: ChangeToPreview['customer'],
  input: StartFacts['input'],
): Promise<DiscountedStart | undefined> {
  const rows = database.of(providerId).in(environment)
  return rows.read((sql) => findDiscountedStart({ sql, providerId, now }, input, reference, null))
}

/** The plan begins now, and ends the purchase before. A pack begins beside it. */
async function previewStart(
  parts: PreviewParts,
  at: PreviewAt,
  { customer, purchase: held }: ChangeToPreview,
  { input }: StartFacts,
  begun: PlanStart,
): Promise<ChangePreview> {
  const { plan, needs, change } = begun
  const { providerId, now } = at
  const previous = isPack(plan) ? undefined : input.last
  const rows = parts.database.of(providerId).in(at.environment)
  const { started, ended } = await rows.read((sql) =>
    startAhead({ sql, ...at }, customer, previous, begun),
  )
  const unstored = {
    taxedAsRef: held.reference,
    endOfPrevious: ended?.endedAt ?? undefined,
  }
  const before = ended === undefined ? [] : [{ purchase: ended }]
  // A pack charges nothing after its payment.
  const purchases = isPack(plan) ? [] : [...before, { purchase: started, unstored }]
  const today = todayOf(begun, held, now)
  const previewed = await previewInvoices(parts, at, { customer, purchases, today })
  const trialEnd = started.status === 'trialing' ? started.nextBillingDate : null
  return {
    kind: 'begins',
    ...{ plan, needs, startsAt: now, trialEndsAt: trialEnd ?? undefined },
    unusedTime:
      previous === undefined || ended === undefined
        ? undefined
        : unusedTimeOf(previous, change, now),
    lostUnits: ended === undefined ? [] : listLostUnits(ended, previewed.invoices),
    includedMicros: started.firstIncludedMicros,
    sharesUsage: started.allowance !== null,
    ...previewed,
  }
}

function todayOf(
  { plan, invoice }: PlanStart,
  { reference }: Purchase,
  now: Date,
): PlannedInvoice[] {
  if (invoice === undefined) return []
  const of = { purchaseRef: null, taxedAsRef: reference, plan: snapshotOf(plan) }
  return [{ ...of, ...invoice, at: now, mayStayDraft: true, takesItems: false }]
}
