import type { CardCheckHandler } from './payment-handler.ts'
import { saveCard } from './save-card.ts'

/** A card that the customer enters to be charged later. */
export const cardCheck: CardCheckHandler = {
  /** The card is charged from now on, also for what is unpaid. */
  onSucceeded: (work, customerRef, card) => saveCard(work, customerRef, card),

  /** The card before stays. */
  onFailed: async () => undefined,
}
