import type { PublishedRecharge } from '@tollgate/domain/wallet/take-credits'
import type { Environment } from '@tollgate/schemas/environment'

/** A wallet that a debit has left with less than its published threshold. */
export type LowWallet = {
  readonly environment: Environment
  readonly providerId: string
  /** The customer's own. */
  readonly customerRef: string
  readonly recharge: PublishedRecharge
}

/** Has automatic top-ups begun for wallets that have run low. */
export interface Recharges {
  /**
   * Whether a charge was begun by this call: its payment is stored. Never fails; false where nobody could say so in time.
   * Call it once the debit is in the log.
   */
  begin(wallet: LowWallet, authorization: string): Promise<boolean>
}
