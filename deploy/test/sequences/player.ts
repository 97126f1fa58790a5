import type { Customer } from '@tollgate/domain/customers/repository'
import type { MoneyWorld } from '../money/money-world.ts'
import type { Market, PlanName } from './market.ts'

/** Units that a limit check admitted and that were then recorded. */
type Admitted = {
  readonly at: Date
  readonly plan: PlanName
  readonly units: number
}

/** One customer of the market, and the state that the test expects. */
export type Player = {
  readonly world: MoneyWorld
  readonly market: Market
  readonly customer: Customer
  readonly admitted: Admitted[]
  /** Processor ids of the payments that the customer's browser confirmed, oldest first. */
  readonly paymentIds: string[]
  /** Counter for unique names. */
  asked: number
}

export function createPlayer(world: MoneyWorld, market: Market, customer: Customer): Player {
  return { world, market, customer, admitted: [], paymentIds: [], asked: 0 }
}
