import { countAttempt, uncountAttempt, type CountedAttempt } from './attempts.ts'
import type { ConsoleParts } from './console-parts.ts'
import { findKnownBrowser } from './known-browsers.ts'
import { networkOf } from '@tollgate/platform/service/network-of'

export type Attempt = {
  readonly email: string
  /** Undefined: at any provider that has a user of that address. */
  readonly providerId: string | undefined
  /** Of the network, that the attempt comes from. */
  readonly address: string
  /** Of the cookie that an earlier sign-in in this browser left. */
  readonly browserToken: string | undefined
}

export type EnterOutcome =
  | {
      readonly kind: 'entered'
      readonly counted: readonly CountedAttempt[]
      readonly isKnownBrowser: boolean
    }
  | { readonly kind: 'wait'; readonly waitMs: number }

/**
 * Counts an attempt against its address and its account, in this order: whoever may try no more cannot use up what the
 * owner of an account has left. A browser that the account was used in before is counted by itself, so that guesses made
 * elsewhere, also from behind the same proxy, do not keep its owner out. Tells how long to wait where it is one too many.
 */
export async function enterAttempt(
  { database, limits }: ConsoleParts,
  { email, providerId, address, browserToken }: Attempt,
  now: Date,
): Promise<EnterOutcome> {
  const { control } = database
  const browser = await findKnownBrowser(control, { email, providerId }, browserToken, now)
  if (browser !== undefined) {
    const known = { kind: 'browser', subject: browser } as const
    const byBrowser = await countAttempt(control, known, limits.attempts, now)
    if (byBrowser.kind === 'wait') return byBrowser
    return { kind: 'entered', counted: [byBrowser.attempt], isKnownBrowser: true }
  }
  const place = { kind: 'address', subject: networkOf(address) } as const
  const byAddress = await countAttempt(control, place, limits.attempts, now)
  if (byAddress.kind === 'wait') return byAddress
  const account = { kind: 'email', subject: email } as const
  const byEmail = await countAttempt(control, account, limits.attempts, now)
  if (byEmail.kind === 'wait') return byEmail
  return {
    kind: 'entered',
    counted: [byAddress.attempt, byEmail.attempt],
    isKnownBrowser: false,
  }
}

/** The attempt was no guess. */
export async function takeBackAttempt(
  { database, limits }: ConsoleParts,
  counted: readonly CountedAttempt[],
): Promise<void> {
  for (const each of counted) await uncountAttempt(database.control, each, limits.attempts)
}
