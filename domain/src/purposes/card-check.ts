import type { CardCheckHandler } from './payment-handler.ts'
import { saveCard } from './save-card.ts'

/** A card that the customer enters for later charges. */
export const cardCheck: CardCheckHandler = {
  /** Saves the card, which is charged from now on, also for unpaid invoices. */
  onSucceeded: (work, customerRef, card) => saveCard(work, customerRef, card),

  /** The previous card stays. */
  onFailed: async () => undefined,
}
