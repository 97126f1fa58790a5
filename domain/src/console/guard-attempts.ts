import { countAttempt, revertAttempt, type CountedAttempt, type CountOutcome } from './attempts.ts'
import type { ConsoleParts } from './console-parts.ts'
import { findKnownBrowser } from './known-browsers.ts'
import { networkOf } from '@tollgate/platform/service/network-of'

export type Attempt = {
  readonly email: string
  /** Undefined to sign in at any provider that has a user with this email address. */
  readonly providerId: string | undefined
  /** Network address of the client. */
  readonly address: string
  /** Token of the cookie that an earlier sign-in left in this browser. */
  readonly browserToken: string | undefined
}

export type AdmitOutcome =
  | {
      readonly kind: 'entered'
      readonly counted: readonly CountedAttempt[]
      readonly isKnownBrowser: boolean
    }
  | { readonly kind: 'wait'; readonly waitMs: number }

/**
 * Counts an attempt against its network address and then against its account. In this order, a client that has used up
 * its own attempts cannot use up the attempts of the account's owner. A browser in which the account was used before is
 * counted separately. So guesses from elsewhere, even from behind the same proxy, do not lock out its owner. Returns
 * how long to wait if the attempt is over a limit.
 */
export async function admitAttempt(
  parts: ConsoleParts,
  { email, providerId, address, browserToken }: Attempt,
  now: Date,
): Promise<AdmitOutcome> {
  const { database, limits } = parts
  const { control } = database
  const browser = await findKnownBrowser(control, { email, providerId }, browserToken, now)
  if (browser !== undefined) {
    const known = { kind: 'browser', subject: browser } as const
    const byBrowser = await countAttempt(control, known, limits.attempts, now)
    if (byBrowser.kind === 'wait') return byBrowser
    return { kind: 'entered', counted: [byBrowser.attempt], isKnownBrowser: true }
  }
  const byAddress = await countFromAddress(parts, address, now)
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

/** Counts an attempt against its network address only, before it is known whose account it is. */
export function countFromAddress(
  { database, limits }: ConsoleParts,
  address: string,
  now: Date,
): Promise<CountOutcome> {
  const place = { kind: 'address', subject: networkOf(address) } as const
  return countAttempt(database.control, place, limits.attempts, now)
}

/** Takes back an attempt that was not a guess. */
export async function revertAttempts(
  { database, limits }: ConsoleParts,
  counted: readonly CountedAttempt[],
): Promise<void> {
  for (const each of counted) await revertAttempt(database.control, each, limits.attempts)
}
