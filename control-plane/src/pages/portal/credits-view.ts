import type { AutoRecharge } from '@tollgate/domain/auto-recharge/repository'
import type { Card } from '@tollgate/domain/cards/repository'
import type { ExchangeRate } from '@tollgate/domain/money/exchange-rates'
import type { WalletMovement } from '@tollgate/domain/wallet/list-movements'

/** Data of the page about credits. */
export type CreditsView = {
  /** Remaining credits, in 10^-6 credits. */
  readonly leftMicros: bigint
  readonly displayRate: ExchangeRate
  /** The next grant of a schedule, in whole credits. Undefined if none is planned. */
  readonly nextGrant: { readonly credits: bigint; readonly at: Date } | undefined
  readonly movements: readonly WalletMovement[]
  readonly total: number
  /** Page number, starting at 1. */
  readonly pageNumber: number
  readonly recharge: AutoRecharge | undefined
  /** Credits that one top-up of the stored terms buys. Undefined if there are no terms, or if nothing is sold in their currency. */
  readonly storedCredits: bigint | undefined
  /** The card that top-ups charge. */
  readonly card: Card | undefined
  /** Currencies in which credits can be bought. The provider's own currency comes first. */
  readonly currencies: readonly string[]
  /** Whether the customer can enter a card on this page. */
  readonly canEnterCard: boolean
}

export const movementsPerPage = 20
