import { createHash } from 'node:crypto'
import { canonicalOf } from '../protocol/raw-json.ts'
import type { Sealer } from '../sealing/sealer.ts'
import type { ServedServer } from '../servers/served-server.ts'

/** The owner of a call that asks for input. A retry must come from the same customer, with the same tool and arguments. */
export type RoundOwner = {
  readonly server: ServedServer
  readonly customerRef: string
  readonly toolName: string
  /** JSON that the client wrote. */
  readonly argumentsText: string
}

export type Round = {
  /** The origin's own state, which it gets back as it was; null where it sent none. */
  readonly originState: string | null
  /** Whether the proxy asked, and not the origin. */
  readonly isPaywall: boolean
}

/** Bytes of what is sealed beside the origin's state. */
const ownBytesMax = 1_024

/**
 * Returns the `requestState` of a call that asks for input, or undefined if that of the origin takes more than `bytesMax`. It carries no id of the call: a round that asks is not counted, and a
 * state that is sent again, to whichever process, makes the origin work again, which is a call of its own.
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

/** Returns undefined for a state that is not ours, has expired, or belongs to another call. */
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
