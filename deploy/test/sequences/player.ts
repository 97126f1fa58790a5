import type { Customer } from '@tollgate/domain/customers/repository'
import { findDecidingPurchase } from '@tollgate/domain/purchases/repository'
import type { UnitOfWork } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { MoneyWorld } from '../money/money-world.ts'
import type { Market, PlanName } from './market.ts'

/** Units that a limit check admitted and that were then recorded, or that the provider recorded for a time in the past. */
type Admitted = {
  readonly at: Date
  readonly plan: PlanName
  /** Id of the record. */
  readonly id: string
  /** Units after all corrections. */
  units: number
}

/** One customer of the market, and the state that the test expects. */
export type Player = {
  readonly world: MoneyWorld
  readonly market: Market
  readonly customer: Customer
  readonly admitted: Admitted[]
  /** Plans to which the provider moves purchases without a charge until their next period, by reference of the purchase. */
  readonly kept: Map<string, PlanName>
  /** Processor ids of the payments that the customer's browser confirmed, oldest first. */
  readonly paymentIds: string[]
  /** Counter for unique names. */
  asked: number
}

export function createPlayer(world: MoneyWorld, market: Market, customer: Customer): Player {
  return { world, market, customer, admitted: [], kept: new Map(), paymentIds: [], asked: 0 }
}

export async function commit(
  player: Player,
  body: (work: UnitOfWork) => Promise<unknown>,
): Promise<void> {
  const { providerId } = player.market
  await player.world.act((service) => service.parts.commit(service.operation(providerId), body))
}

/** Changes the purchase that decides about the access of the customer, if there is one. */
export function changePurchase(
  player: Player,
  change: (work: UnitOfWork, reference: string) => Promise<unknown>,
): Promise<void> {
  const { customer, market } = player
  return commit(player, async (work) => {
    const { sql, providerId } = work
    const held = await findDecidingPurchase(sql, providerId, customer.reference, market.productRef)
    if (held !== undefined) await change(work, held.reference)
  })
}
