import type { PlaceRequest } from '@tollgate/platform/hot-state/reservations'
import {
  resolveWalletAddress,
  readPublishedSums,
  type WalletKey,
  type WalletParts,
} from './hot-wallet.ts'
import { walletRequest } from './wallet-request.ts'

export type CreditsToReserve = {
  readonly request: PlaceRequest
  /** All credits added to the wallet minus removals, 10^-6. */
  readonly grantedMicros: bigint
}

/**
 * Returns the place that holds credits for a reservation, in addition to the product's place that holds its units. Undefined while
 * a lost wallet is not published again.
 *
 * Reservations fill at most half of `heldMax`, so that usage without a reservation can still be paid.
 */
export async function creditsToReserve(
  parts: WalletParts,
  name: WalletKey,
  dueMicros: bigint,
  heldMax: number,
): Promise<CreditsToReserve | undefined> {
  const at = resolveWalletAddress(parts, name)
  const document = await parts.hotState.readEntryDocument(at)
  const sums = await readPublishedSums(parts, at, document)
  if (sums === undefined) return undefined
  const { grantedMicros } = sums
  const request = await walletRequest(parts, at, {
    document,
    units: dueMicros,
    takes: 'all',
    cap: grantedMicros,
    reservationsMax: Math.ceil(heldMax / 2),
  })
  return { request, grantedMicros }
}
