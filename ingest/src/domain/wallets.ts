import type { DueDebit, TakenCredits } from '@tollgate/domain/wallet/take-credits'

/** Takes what usage costs out of customers' wallets. */
export interface Wallets {
  /**
   * For records that are about to be written, all of one provider and environment. Rejects with UnavailableError; what
   * was taken until then is given back after a while.
   */
  take(due: readonly DueDebit[]): Promise<TakenCredits[]>
}
