import type { Customer } from '../customers/repository.ts'
import { totalOf } from '../pricing/invoice-line.ts'
import type { Product } from '../catalog/products-repository.ts'
import { decideSwitch, type PlanSwitch } from '../purchases/decide-switch.ts'
import { switchedPurchase, switchPrice } from '../purchases/new-purchase.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import type { Purchase } from '../purchases/repository.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import { priceOf } from '../payments/taxed-terms.ts'

/**
 * Returns the change of plan that was paid for, as it was priced. `gone`: the purchase to be changed or its period has ended before
 * the payment.
 */
export function findSwitch(
  intent: PaymentIntent,
  plan: PlanSnapshot,
  held: Purchase | undefined,
  now: Date,
): PlanSwitch | 'gone' {
  const { planSwitch, currency } = intent
  if (planSwitch === null) throw new Error(`${intent.reference} changes no plan`)
  const { fromPurchaseRef, changedAt, isFirst: isFirstCharge } = planSwitch
  if (held?.reference !== fromPurchaseRef) return 'gone'
  const change = decideSwitch({ held, plan, isFirstCharge, currency, at: new Date(changedAt) })
  if (change === undefined || change.period.end <= now) return 'gone'
  return totalOf(change.lines) === priceOf(intent) ? change : 'gone'
}

type Given = {
  readonly customer: Customer
  readonly product: Pick<Product, 'reference' | 'name'>
  readonly plan: PlanSnapshot
  readonly now: Date
}

/** Returns the new purchase. The transition `paid` makes it active. */
export function paidSwitch(
  given: Given,
  change: PlanSwitch,
  { currency, exchangeRate }: PaymentIntent,
): Purchase {
  const price = switchPrice(given.plan, currency, exchangeRate)
  const purchase = switchedPurchase(given, change, price)
  return { ...purchase, status: 'pending', paidAt: given.now }
}
