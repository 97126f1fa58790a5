import type { AutoRecharge } from '@tollgate/domain/auto-recharge/repository'
import type { Card } from '@tollgate/domain/cards/repository'
import type { ExchangeRate } from '@tollgate/domain/money/exchange-rates'
import type { WalletMovement } from '@tollgate/domain/wallet/list-movements'

/** What the page of credits shows. */
export type CreditsView = {
  /** 10^-6 credits. */
  readonly leftMicros: bigint
  readonly displayRate: ExchangeRate
  readonly movements: readonly WalletMovement[]
  readonly total: number
  /** From 1. */
  readonly pageNumber: number
  readonly recharge: AutoRecharge | undefined
  /** What one top-up of the stored terms buys; undefined where there are none, or nothing is sold in its currency. */
  readonly storedCredits: bigint | undefined
  /** What top-ups are charged to. */
  readonly card: Card | undefined
  /** In which credits can be bought; the provider's own first. */
  readonly currencies: readonly string[]
  /** Whether a card can be entered here. */
  readonly isCardTaken: boolean
}

export const movementsPerPage = 20
