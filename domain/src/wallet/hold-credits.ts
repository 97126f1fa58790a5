import { UsageBehindError } from '../entitlements/usage-behind-error.ts'
import {
  resolveWalletAddress,
  parsePublishedSums,
  type WalletKey,
  type WalletParts,
  type WalletSums,
} from './hot-wallet.ts'
import { WalletFullError } from './wallet-full-error.ts'
import { walletRequest } from './wallet-request.ts'

/** Holds credits of the wallet in hot state for a removal other than usage. Amounts are 10^-6 credits. */
export interface HoldCredits {
  /**
   * Holds credits of a wallet in one atomic step, until a publication contains their removal. The caller holds the lock of the
   * wallet's row, and names the hold by the key of the transaction that removes the credits. The publication ends the hold by that
   * name. If a hold of that name exists, it is returned instead.
   *
   * Does not wait, because the caller holds a lock. Throws UsageBehindError if the hot state does not have the wallet or its
   * counters.
   */
  (name: WalletKey, sums: WalletSums, request: HoldRequest): Promise<HeldCredits>
}

export type HoldRequest = {
  readonly key: string
  /** Amount to hold, more than 0. */
  readonly micros: bigint
  /** Limit for all credits ever spent from the wallet, including this hold. Undefined for the credits that were granted. */
  readonly upToMicros: bigint | undefined
  /** What to hold if less than `micros` is available: nothing (`all`), or what is available (`rest`). */
  readonly takes: 'all' | 'rest'
  readonly heldMs: number
}

export type HeldCredits = {
  readonly heldMicros: bigint
  /** Credits of acknowledged usage and of holds for usage in progress, without this hold and other removals. */
  readonly spentMicros: bigint
}

export type HoldLimits = {
  /** Maximum number of holds in one wallet at a time, including this one. */
  readonly heldMax: number
}

/** A publication does not end holds that are older than twice this time. */
export const removalsHeldMsMax = 24 * 3600 * 1000

export function createHoldCredits(parts: WalletParts, limits: HoldLimits): HoldCredits {
  const { hotState } = parts
  return async (name, sums, { key, micros, upToMicros, takes, heldMs }) => {
    const at = resolveWalletAddress(parts, name)
    for (let tries = 0; tries < triesMax; tries += 1) {
      const document = await hotState.readEntryDocument(at)
      if (document === undefined) break
      const published = parsePublishedSums(document)
      // Removals in PostgreSQL that are not published yet are still held, each under its own key.
      const pendingMicros = sums.removedMicros - published.removedMicros
      const request = await walletRequest(parts, at, {
        document,
        units: micros,
        takes,
        cap: upToMicros === undefined ? published.grantedMicros : upToMicros + pendingMicros,
        reservationsMax: limits.heldMax,
      })
      const outcome = await hotState.reserve({ ...request, reservationId: key, ttlMs: heldMs })
      if (outcome.kind === 'full') throw new WalletFullError()
      if (outcome.kind !== 'behind') {
        const heldMicros = outcome.kind === 'admitted' ? outcome.units : 0n
        const { used, reserved } = outcome.taken
        return { heldMicros, spentMicros: used + reserved - heldMicros - pendingMicros }
      }
      await hotState.waitForApply(readAgainAfterMs)
    }
    throw new UsageBehindError(0)
  }
}

/**
 * Releases the hold of that name, because its credits are not removed after all. Does nothing if there is none. Safe at any time
 * before the transaction that would remove them.
 */
export type ReleaseCredits = (name: WalletKey, key: string) => Promise<void>

export function createReleaseCredits(parts: WalletParts): ReleaseCredits {
  return async (name, key) => {
    await parts.hotState.releaseReservation(resolveWalletAddress(parts, name), key)
  }
}

/** The document may have changed between the two reads, or the counters may be one batch behind. Either takes only a moment. */
const triesMax = 10
const readAgainAfterMs = 5
