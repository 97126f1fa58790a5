import type { DebitDecision } from '@tollgate/domain/entitlements/credit-debit'
import type { KeyHolder } from './key-holder.ts'
import type { PlacedEvent } from './placed-event.ts'

export type Decided = {
  readonly decision: DebitDecision
  /** The customer's own reference, where the customer holds the product. */
  readonly ownRef: string | undefined
}

/** Whether a usage call is paid from a wallet. The answer is at hand unless something must be read. */
export interface DebitDecider {
  /** Rejects with UnavailableError where the customer's wallet pays and nothing can be read now. */
  decide(holder: KeyHolder, placed: PlacedEvent): Decided | Promise<Decided>
}
