import { UsageBehindError } from '../entitlements/usage-behind-error.ts'
import {
  addressOf,
  publishedSums,
  type WalletName,
  type WalletParts,
  type WalletSums,
} from './hot-wallet.ts'
import { WalletFullError } from './wallet-full-error.ts'
import { walletRequest } from './wallet-request.ts'

/** Takes credits out of the hot state's wallet, otherwise than for usage. 10^-6 credits. */
export interface HoldCredits {
  /**
   * Holds credits of a wallet until a document is published that has what was taken out, in one atomic step. Call it under
   * the lock of the wallet's row, and name the hold by the key of the transaction that takes the credits out, which the
   * publication ends it by. A hold of that name that is there is told of instead.
   *
   * Does not wait, as whoever calls holds a lock: throws UsageBehindError where the hot state does not have the wallet, or
   * does not know what is spent.
   */
  (name: WalletName, sums: WalletSums, request: HoldRequest): Promise<HeldCredits>
}

export type HoldRequest = {
  readonly key: string
  /** More than nothing. */
  readonly micros: bigint
  /** Of all that was ever spent of the wallet, with this: no more than so much. Undefined: than was put in. */
  readonly upToMicros: bigint | undefined
  /** Where less can be held: nothing, or what can. */
  readonly takes: 'all' | 'rest'
  readonly heldMs: number
}

export type HeldCredits = {
  readonly heldMicros: bigint
  /** By usage that was acknowledged before, and held for usage on its way: without this, and what else was taken out. */
  readonly spentMicros: bigint
}

export type HoldLimits = {
  /** Records that credits are held for in one wallet at a time, and these. */
  readonly heldMax: number
}

/** A publication ends no hold that is older than twice that. */
export const removalsHeldMsMax = 24 * 3600 * 1000

export function createHoldCredits(parts: WalletParts, limits: HoldLimits): HoldCredits {
  const { hotState } = parts
  return async (name, sums, { key, micros, upToMicros, takes, heldMs }) => {
    const at = addressOf(parts, name)
    for (let tries = 0; tries < triesMax; tries += 1) {
      const document = await hotState.readEntryDocument(at)
      if (document === undefined) break
      const published = publishedSums(document)
      // Taken out by PostgreSQL, and not published yet: it is held, each by its own key.
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
 * Gives back what was held under that name, of which nothing is taken out after all. Nothing where there is none; harmless
 * at any moment before the transaction that would take them out.
 */
export type ReleaseCredits = (name: WalletName, key: string) => Promise<void>

export function createReleaseCredits(parts: WalletParts): ReleaseCredits {
  return async (name, key) => {
    await parts.hotState.releaseReservation(addressOf(parts, name), key)
  }
}

/** The document may have changed in between, or the counters be a batch behind: not more than a moment's matter. */
const triesMax = 10
const readAgainAfterMs = 5
