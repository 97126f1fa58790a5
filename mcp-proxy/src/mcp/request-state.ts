import { createHash } from 'node:crypto'
import { canonicalOf } from '../protocol/raw-json.ts'
import type { Sealer } from '../sealing/sealer.ts'
import type { ServedServer } from '../servers/served-server.ts'

/** The call to which a question for input belongs. A retry must have the same customer, tool and arguments. */
export type RoundOwner = {
  readonly server: ServedServer
  readonly customerRef: string
  readonly toolName: string
  /** Arguments as the JSON text that the client sent. */
  readonly argumentsText: string
}

export type Round = {
  /** The origin's own state, which is returned to the origin unchanged. Null if the origin sent none. */
  readonly originState: string | null
  /** Whether the proxy's paywall asked, not the origin. */
  readonly isPaywall: boolean
}

/** Maximum bytes that are sealed in addition to the origin's state. */
const ownBytesMax = 1_024

/**
 * Returns the `requestState` for a call that asks for input, or undefined if the origin's state exceeds `bytesMax`. It contains no
 * call id: a round that asks for input is not counted. If a client sends the same state again, to any process, the origin works
 * again, which counts as a separate call.
 */
export function sealRound(
  sealer: Sealer,
  owner: RoundOwner,
  { originState, isPaywall }: Round,
  expiresAtMs: number,
  bytesMax: number,
): string | undefined {
  if (Buffer.byteLength(JSON.stringify(originState)) > bytesMax) return undefined
  const sealed = [ownerDigest(owner), originState, isPaywall, expiresAtMs]
  return sealer.seal('request-state', sealed, bytesMax + ownBytesMax)
}

/** Returns undefined for a state that the proxy did not seal, that has expired, or that belongs to another call. */
export function openRound(
  sealer: Sealer,
  owner: RoundOwner,
  state: string,
  nowMs: number,
  bytesMax: number,
): Round | undefined {
  const opened = sealer.open('request-state', state, bytesMax + ownBytesMax)
  if (!Array.isArray(opened)) return undefined
  const [digest, originState, isPaywall, expiresAtMs] = opened as [
    ...[string, string | null, boolean, number],
  ]
  if (digest !== ownerDigest(owner) || expiresAtMs <= nowMs) return undefined
  return { originState, isPaywall }
}

function ownerDigest({ server, customerRef, toolName, argumentsText }: RoundOwner): string {
  const { environment, reference } = server
  const parts = [environment, reference, customerRef, toolName, canonicalOf(argumentsText)]
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
}
