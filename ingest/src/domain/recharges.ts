import type { PublishedRecharge } from '@tollgate/domain/wallet/hold-usage-credits'
import type { Environment } from '@tollgate/schemas/environment'

/** A wallet whose balance fell below its published threshold because of a debit. */
export type LowWallet = {
  readonly environment: Environment
  readonly providerId: string
  /** The customer's own reference (`cus_…`), which identifies the wallet. */
  readonly customerRef: string
  readonly recharge: PublishedRecharge
}

/** Starts automatic top-ups of wallets with a low balance. */
export interface Recharges {
  /**
   * Resolves with whether this call started a charge, which means that its payment is stored. Never rejects; resolves with false if
   * the control plane does not answer in time. Call it once the debit is in the log.
   */
  begin(wallet: LowWallet, authorization: string): Promise<boolean>
}
