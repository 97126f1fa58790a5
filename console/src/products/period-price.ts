import type { Plan } from './plan.ts'

type Priced = Pick<Plan, 'type' | 'price' | 'basePrice'>

/** Returns the field with the price of a period. A hybrid plan is billed by `basePrice`, if it has one. */
export function priceFieldOf({ type, basePrice }: Priced): 'price' | 'basePrice' {
  return type === 'hybrid' && basePrice !== undefined ? 'basePrice' : 'price'
}

/** Returns the price of a period in minor units of the plan's currency. */
export function periodPriceOf(plan: Priced): number {
  return plan[priceFieldOf(plan)] ?? plan.price
}
