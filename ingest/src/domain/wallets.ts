import type { DueDebit, HeldUsageCredits } from '@tollgate/domain/wallet/hold-usage-credits'

/** Holds the credits that usage costs in customers' wallets. */
export interface Wallets {
  /**
   * Holds credits for records that will be appended next, all of one provider and environment. Rejects with UnavailableError.
   * Credits that were held before the rejection are released when their hold expires.
   */
  hold(due: readonly DueDebit[]): Promise<HeldUsageCredits[]>
}
