import { signingOrder, type WebhookSecret } from './endpoint.ts'

/** Maximum number of secrets that sign. Each adds a signature to the header, and receivers check all of them. */
export const liveSecretsMax = 3

export type Rotation =
  | {
      readonly kind: 'rotated'
      /** The other secrets, and when each of them ends. */
      readonly ends: readonly { readonly reference: string; readonly expiresAt: Date }[]
      /** The secret whose signature is first from now on; null for the new one. */
      readonly first: string | null
    }
  /** `freeAt`: when the next of the secrets ends. */
  | { readonly kind: 'too-many'; readonly freeAt: Date }

/**
 * Decides what happens to an endpoint's secrets when another one is added. The older ones sign until the overlap ends, but none of
 * them longer than before. The secret that receivers already have signs first until the new one is promoted.
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
