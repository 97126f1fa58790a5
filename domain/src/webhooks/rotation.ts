import { signingOrder, type WebhookSecret } from './endpoint.ts'

/** Those that sign. Each gives the header another signature, and receivers look through all of them. */
export const liveSecretsMax = 3

export type Rotation =
  | {
      readonly kind: 'rotated'
      /** When each of the others ends. */
      readonly ends: readonly { readonly reference: string; readonly expiresAt: Date }[]
      /** Whose signature stands first from now on; null: that of the new one. */
      readonly first: string | null
    }
  /** `freeAt`: when the next of them ends. */
  | { readonly kind: 'too-many'; readonly freeAt: Date }

/**
 * What becomes of an endpoint's secrets when it gets another one. The older ones go on signing for the overlap, and none of
 * them for longer than it would have; the one that receivers have stands first until the new one is promoted.
 */
export function decideRotation(
  secrets: readonly Omit<WebhookSecret, 'sealed'>[],
  overlapMs: number,
  now: Date,
): Rotation {
  const live = signingOrder(secrets, now)
  const overlapEnd = new Date(now.getTime() + overlapMs)
  const ends = live.map(({ reference, expiresAt }) => ({
    reference,
    expiresAt: earlierOf(expiresAt, overlapEnd),
  }))
  const [first] = live
  if (first === undefined || overlapMs === 0) return { kind: 'rotated', ends, first: null }
  if (live.length < liveSecretsMax) return { kind: 'rotated', ends, first: first.reference }
  const freeAtMs = Math.min(...ends.map(({ expiresAt }) => expiresAt.getTime()))
  return { kind: 'too-many', freeAt: new Date(freeAtMs) }
}

function earlierOf(own: Date | null, end: Date): Date {
  return own !== null && own < end ? own : end
}
