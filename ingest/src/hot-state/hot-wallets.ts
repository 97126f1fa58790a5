import {
  holdAllUsageCredits,
  type DueDebit,
  type HeldUsageCredits,
  type WalletLimits,
} from '@tollgate/domain/wallet/hold-usage-credits'
import type { WalletParts } from '@tollgate/domain/wallet/hot-wallet'
import { UnavailableError } from '../domain/unavailable-error.ts'
import type { Wallets } from '../domain/wallets.ts'

/** Holds credits in the hot state, if this process may write to it. */
export class HotWallets implements Wallets {
  readonly #parts: WalletParts
  readonly #limits: WalletLimits

  constructor(parts: WalletParts, limits: WalletLimits) {
    this.#parts = parts
    this.#limits = limits
  }

  async hold(due: readonly DueDebit[]): Promise<HeldUsageCredits[]> {
    try {
      return await holdAllUsageCredits(this.#parts, due, this.#limits)
    } catch (cause) {
      throw new UnavailableError('No wallet can pay now, try again', { cause })
    }
  }
}
