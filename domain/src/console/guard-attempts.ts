import { countAttempt, uncountAttempt, type CountedAttempt } from './attempts.ts'
import type { ConsoleParts } from './console-parts.ts'
import { networkOf } from './network-of.ts'

export type Attempt = {
  readonly email: string
  /** Of the network, that the attempt comes from. */
  readonly address: string
}

export type EnterOutcome =
  | { readonly kind: 'entered'; readonly counted: readonly CountedAttempt[] }
  | { readonly kind: 'wait'; readonly waitMs: number }

/**
 * Counts an attempt against its address and its account, in this order: whoever may try no more cannot use up what the
 * owner of an account has left. Tells how long to wait where it is one too many.
 */
export async function enterAttempt(
  { database, limits }: ConsoleParts,
  { email, address }: Attempt,
  now: Date,
): Promise<EnterOutcome> {
  const { control } = database
  const place = { kind: 'address', subject: networkOf(address) } as const
  const byAddress = await countAttempt(control, place, limits.attempts, now)
  if (byAddress.kind === 'wait') return byAddress
  const account = { kind: 'email', subject: email } as const
  const byEmail = await countAttempt(control, account, limits.attempts, now)
  if (byEmail.kind === 'wait') return byEmail
  return { kind: 'entered', counted: [byAddress.attempt, byEmail.attempt] }
}

/** The attempt was no guess. */
export async function takeBackAttempt(
  { database, limits }: ConsoleParts,
  counted: readonly CountedAttempt[],
): Promise<void> {
  for (const each of counted) await uncountAttempt(database.control, each, limits.attempts)
}
