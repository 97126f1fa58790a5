import type { DebitDecision } from '@tollgate/domain/entitlements/credit-debit'
import type { KeyHolder } from './key-holder.ts'
import type { PlacedEvent } from './placed-event.ts'

export type Decided = {
  readonly decision: DebitDecision
  /** The customer's own reference, if the customer has an entitlement to the product. */
  readonly ownRef: string | undefined
}

/** Decides whether a wallet pays for a usage call. The result is synchronous unless the hot state must be read. */
export interface DebitDecider {
  /** Rejects with UnavailableError if a wallet paid for this customer and product before and the entitlement cannot be read now. */
  decide(holder: KeyHolder, placed: PlacedEvent): Decided | Promise<Decided>
}
