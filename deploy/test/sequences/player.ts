import type { Customer } from '@tollgate/domain/customers/repository'
import type { MoneyWorld } from '../money/money-world.ts'
import type { Market, PlanName } from './market.ts'

/** Units that a limit check admitted and that were recorded then. */
type Admitted = {
  readonly at: Date
  readonly plan: PlanName
  readonly units: number
}

/** One customer of the market, and what the test knows of it without asking the service. */
export type Player = {
  readonly world: MoneyWorld
  readonly market: Market
  readonly customer: Customer
  readonly admitted: Admitted[]
  /** Payments that the customer's browser has confirmed, oldest first, by the processor's id. */
  readonly paymentIds: string[]
  /** Counts what needs a name of its own. */
  asked: number
}

export function createPlayer(world: MoneyWorld, market: Market, customer: Customer): Player {
  return { world, market, customer, admitted: [], paymentIds: [], asked: 0 }
}
