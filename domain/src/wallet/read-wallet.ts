import { walletSeries, walletWindow } from '@tollgate/schemas/hot-state/wallets'
import { usageTopic } from '@tollgate/schemas/topics'
import { UsageBehindError } from '../entitlements/usage-behind-error.ts'
import { addressOf, sumsOf, type WalletName, type WalletParts } from './hot-wallet.ts'

/** 10^-6 credits. */
export type WalletReading = {
  readonly grantedMicros: bigint
  /** By usage that was acknowledged before, and held for usage on its way. */
  readonly spentMicros: bigint
}

export type HotWallet = WalletReading & {
  /** What was taken out otherwise than by usage: what was taken out since is still held, and so among what is spent. */
  readonly removedMicros: bigint
  /** By usage that was counted: what is only held is not among it. */
  readonly usedMicros: bigint
}

/**
 * Throws UsageBehindError where it cannot be said in time what was spent: the hot state was lost, and the counters are
 * not back yet.
 */
export async function readWallet(
  parts: WalletParts,
  name: WalletName,
  waitMs: number,
): Promise<HotWallet> {
  const deadline = performance.now() + waitMs
  const at = addressOf(parts, name)
  const minOffset = await parts.log.head(usageTopic(name.environment), at.partition)
  const query = { at, series: walletSeries, windowId: walletWindow.id, minOffset }
  for (;;) {
    const view = await parts.hotState.readTaken(query)
    const sums = view.kind === 'taken' ? await sumsOf(parts, at, view.document) : undefined
    if (view.kind === 'taken' && sums !== undefined) {
      const { used, reserved } = view.taken
      return { ...sums, usedMicros: used, spentMicros: used + reserved }
    }
    const leftMs = deadline - performance.now()
    if (leftMs <= 0) throw new UsageBehindError(0)
    await parts.hotState.waitForApply(Math.min(leftMs, readAgainAfterMs))
  }
}

/** A publication rings no bell. */
const readAgainAfterMs = 20

/** What can be spent. Never less than nothing: a hot state that lost its last moments may have given something out twice. */
export function spendableMicros({ grantedMicros, spentMicros }: WalletReading): bigint {
  return spentMicros < grantedMicros ? grantedMicros - spentMicros : 0n
}
