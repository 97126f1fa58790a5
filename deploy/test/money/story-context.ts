import type { Customer } from '@tollgate/domain/customers/repository'
import type { MoneyWorld } from './money-world.ts'
import type { Shop } from './shop.ts'
import type { Item, Slot } from './story.ts'

/** A payment as the customer knows it, even if the request was not answered. */
type KnownPayment = {
  /** Undefined for the payment of an invoice. */
  readonly item: Item | undefined
  reference?: string
  processorPaymentId?: string | undefined
}

/** One customer of one shop in a story. */
export type StoryContext = {
  readonly world: MoneyWorld
  readonly shop: Shop
  readonly customer: Customer
  readonly known: Map<Slot, KnownPayment>
}
