import type { Customer } from '@tollgate/domain/customers/repository'
import { findDecidingPurchase } from '@tollgate/domain/purchases/repository'
import type { UnitOfWork } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { MoneyWorld } from '../money/money-world.ts'
import type { AgreedPlanName, Market, PlanName } from './market.ts'

/** Units that a limit check admitted and that were then recorded, or that the provider recorded for a time in the past. */
type Admitted = {
  readonly at: Date
  readonly plan: PlanName
  /** Id of the record. */
  readonly id: string
  /** Units after all corrections. */
  units: number
}

/** A quantity of the add-on that the provider accepted. */
export type SupportChoice = {
  readonly at: Date
  readonly quantity: number
  readonly when: 'now' | 'renewal'
  /** The purchase before the choice and the one that has it, which are the same if it waits for the renewal. */
  readonly beforeRef: string
  readonly purchaseRef: string
}

/** The plan whose price was agreed with the customer from then on. Undefined: the customer pays what everybody pays. */
export type Agreement = { readonly at: Date; readonly plan: AgreedPlanName | undefined }

/** One customer of the market, and the state that the test expects. */
export type Player = {
  readonly world: MoneyWorld
  readonly market: Market
  readonly customer: Customer
  readonly admitted: Admitted[]
  /** Plans to which the provider moves purchases without a charge until their next period, by reference of the purchase. */
  readonly kept: Map<string, PlanName>
  /** References of all purchases that were active after the last run of the billing job. */
  readonly active: ReadonlySet<string>
  /** Agreements on prices, oldest first. Each replaces the one before. */
  readonly agreements: Agreement[]
  /** Accepted quantities of the add-on, oldest first. */
  readonly supportChoices: SupportChoice[]
  /** All steps of the customer, oldest first. */
  readonly steps: { readonly at: Date; readonly do: string }[]
  /** Processor ids of the payments that the customer's browser confirmed, oldest first. */
  readonly paymentIds: string[]
  /** Counter for unique names. */
  asked: number
}

export function createPlayer(
  world: MoneyWorld,
  market: Market,
  customer: Customer,
  active: ReadonlySet<string>,
): Player {
  const lists = { admitted: [], agreements: [], supportChoices: [], steps: [], paymentIds: [] }
  return { world, market, customer, active, ...lists, kept: new Map(), asked: 0 }
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
