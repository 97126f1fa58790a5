import { readSwitchPrice } from '../billing/activate-plan.ts'
import type { Product } from '../catalog/products-repository.ts'
import type { Customer } from '../customers/repository.ts'
import type { CycleMode } from '../periods/periods.ts'
import type { Plan } from '../plans/plan.ts'
import type { ActivationDecision, ActivationInput } from '../purchases/decide-activation.ts'
import type { PlanSwitch } from '../purchases/decide-switch.ts'
import { movedPurchase } from '../purchases/move-purchase.ts'
import {
  newPaidPurchase,
  newSwitchedPurchase,
  newTrialPurchase,
  newUnpaidPurchase,
} from '../purchases/new-purchase.ts'
import type { Purchase } from '../purchases/repository.ts'
import { pricesIn } from '../pricing/plan-prices.ts'
import { planSale } from '../purposes/invoice-sale.ts'
import type { DiscountedStart } from '../purposes/start-discounted.ts'
import type { PlannedInvoice } from './price-invoices.ts'
import type { ReadingAt } from '../unit-of-work/unit-of-work.ts'

/** What the customer must do before a plan begins. */
export type StartNeed = 'nothing' | 'payment' | 'card'

/** Everything about the start of a plan that was read once. */
export type StartFacts = {
  readonly input: ActivationInput
  readonly product: Product
  readonly cycleMode: CycleMode
}

/** How a plan begins now. */
export type PlanStart = {
  readonly plan: Plan
  /** The change within the period of the plan before; undefined if the plan begins a period of its own. */
  readonly change: PlanSwitch | undefined
  readonly needs: StartNeed
  /** What is charged or credited at once. */
  readonly invoice:
    | Pick<PlannedInvoice, 'cause' | 'currency' | 'lines' | 'paidWith' | 'fromBalanceMinor'>
    | undefined
  /** Whether the full price of the first period is charged at once. */
  readonly isPaidInFull: boolean
  /** Returns the purchase that begins, before it is linked to the one before. */
  start(at: ReadingAt, customer: Customer): Promise<Purchase>
}

/** A start without a payment, as `activatePlan` makes it. */
export function unpaidStart(
  { product, cycleMode }: StartFacts,
  { plan, change }: Extract<ActivationDecision, { kind: 'activate' }>,
  needs: StartNeed,
): PlanStart {
  const origin = plan.type === 'one-time' ? 'one_time' : 'manual'
  return {
    ...{ plan, change, needs, isPaidInFull: false },
    invoice:
      change === undefined || change.lines.length === 0
        ? undefined
        : { cause: 'plan_change', currency: change.currency, lines: change.lines },
    start: async (at, customer) => {
      const sale = { customer, product, plan, now: at.now }
      if (change === undefined) return newUnpaidPurchase({ ...sale, cycleMode, origin })
      return newSwitchedPurchase(sale, change, await readSwitchPrice(at, change))
    },
  }
}

/** A start with the plan's trial, as `startTrial` makes it. */
export function trialStart(
  { product, cycleMode }: StartFacts,
  plan: Plan,
  needs: StartNeed,
): PlanStart {
  return {
    ...{ plan, change: undefined, needs, invoice: undefined, isPaidInFull: false },
    start: async ({ now }, customer) =>
      newTrialPurchase({ customer, product, plan, cycleMode, now }),
  }
}

/** A start of which discounts leave nothing to pay, as `startDiscountedPlan` makes it. */
export function discountedStart(
  { product, cycleMode }: StartFacts,
  customer: Customer,
  begun: DiscountedStart,
  now: Date,
): PlanStart {
  const { plan, priceMinor, discounts, needsCard } = begun
  const { currency } = plan
  // A preview does not show the amount in dollars.
  const price = { amountMinor: 0, originalAmountMinor: Number(priceMinor), currency }
  const paid = newPaidPurchase(
    { customer, product, plan, now, cycleMode },
    { ...price, exchangeRate: null },
  )
  const purchase = movedPurchase(paid, 'paid', {}, now)
  return {
    ...{ plan, change: undefined, needs: needsCard ? 'card' : 'nothing' },
    invoice: {
      ...{ cause: 'first_payment', currency },
      lines: planSale(plan, purchase, currency, priceMinor, discounts).lines,
    },
    isPaidInFull: (pricesIn(plan, currency)?.priceMinor ?? 0n) > 0n,
    start: async () => purchase,
  }
}
