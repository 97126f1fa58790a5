import { walletSeries, walletWindow } from '@tollgate/schemas/hot-state/wallets'
import { usageTopic } from '@tollgate/schemas/topics'
import { UsageBehindError } from '../entitlements/usage-behind-error.ts'
import {
  resolveWalletAddress,
  readPublishedSums,
  type WalletKey,
  type WalletParts,
} from './hot-wallet.ts'

/** Amounts in 10^-6 credits. */
export type WalletReading = {
  readonly grantedMicros: bigint
  /** Credits of acknowledged usage and of holds for usage in progress. */
  readonly spentMicros: bigint
}

export type HotWallet = WalletReading & {
  /** Credits removed other than by usage. Later removals are still held, and so included in `spentMicros`. */
  readonly removedMicros: bigint
  /** Credits of counted usage, without holds. */
  readonly usedMicros: bigint
}

/**
 * Reads the wallet from hot state, including all usage acknowledged before. Throws UsageBehindError if the counters do not have
 * that usage in time, for example after hot state was lost.
 */
export async function readWallet(
  parts: WalletParts,
  name: WalletKey,
  waitMs: number,
): Promise<HotWallet> {
  const deadline = performance.now() + waitMs
  const at = resolveWalletAddress(parts, name)
  const minOffset = await parts.log.head(usageTopic(name.environment), at.partition)
  const query = { at, series: walletSeries, windowId: walletWindow.id, minOffset }
  for (;;) {
    const view = await parts.hotState.readTaken(query)
    const sums =
      view.kind === 'taken' ? await readPublishedSums(parts, at, view.document) : undefined
    if (view.kind === 'taken' && sums !== undefined) {
      const { used, reserved } = view.taken
      return { ...sums, usedMicros: used, spentMicros: used + reserved }
    }
    const leftMs = deadline - performance.now()
    if (leftMs <= 0) throw new UsageBehindError(0)
    await parts.hotState.waitForApply(Math.min(leftMs, readAgainAfterMs))
  }
}

/** Publications send no signal, so they are polled at this interval. */
const readAgainAfterMs = 20

/** Returns the credits that can be spent, at least 0. After a loss of its last writes, hot state may have spent a credit twice. */
export function spendableMicros({ grantedMicros, spentMicros }: WalletReading): bigint {
  return spentMicros < grantedMicros ? grantedMicros - spentMicros : 0n
}
