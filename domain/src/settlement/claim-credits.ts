import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import {
  insertClaim,
  listClaims,
  markUndone,
  type ClaimInForce,
  type TakeBack,
} from '../payments/take-backs-repository.ts'

/**
 * Writes down that credits are to be taken back which were bought with money that was paid back: as many as its part of
 * the payment, rounded down for all that was paid back by now. A job takes them, as that needs the hot state. The caller
 * has locked the payment. Claimed before, it stays as it is.
 */
export async function claimCredits(
  { sql, providerId, now }: UnitOfWork,
  intent: PaymentIntent,
  { reference, cause, amountMinor }: Pick<TakeBack, 'reference' | 'cause' | 'amountMinor'>,
): Promise<void> {
  const { reference: intentRef, customerRef } = intent
  // Without a purchase nothing was given.
  if (intent.credits === null || intent.purchaseRef === null) return
  const others = await listClaims(sql, providerId, intentRef, reference)
  const upTo = creditsOf(intent, sumOf(others, 'amountMinor') + amountMinor)
  const before = sumOf(others, 'credits')
  const credits = upTo > before ? upTo - before : 0n
  const claim = { reference, cause, intentRef, customerRef, amountMinor, credits }
  await insertClaim(sql, providerId, claim, now)
}

/**
 * The money has come back: so are the credits to. What it had claimed alone, and others have a right to as well, is
 * claimed for these anew: they came second, and found less left of the payment than was paid back by them.
 */
export async function undoClaim(
  { sql, providerId, now }: UnitOfWork,
  intent: PaymentIntent,
  reference: string,
): Promise<void> {
  const { reference: intentRef, customerRef } = intent
  if (!(await markUndone(sql, providerId, reference, now))) return
  const inForce = await listClaims(sql, providerId, intentRef, reference)
  const owed = creditsOf(intent, sumOf(inForce, 'amountMinor'))
  const isTooMuch = sumOf(inForce, 'credits') > owed
  const given = inForce.filter(({ amountMinor }) => isTooMuch && amountMinor === 0n)
  for (const each of given) await markUndone(sql, providerId, each.reference, now)
  const left = inForce.filter((each) => !given.includes(each))
  const credits = owed - sumOf(left, 'credits')
  if (credits <= 0n) return
  const cause = left.some((each) => each.cause === 'dispute') ? 'dispute' : 'refund'
  const rest = { reference: `${reference}:others`, cause, amountMinor: 0n, credits } as const
  await insertClaim(sql, providerId, { ...rest, intentRef, customerRef }, now)
}

/** What so much of the payment had bought, whole credits. */
function creditsOf({ credits, originalAmountMinor }: PaymentIntent, amountMinor: bigint): bigint {
  const partMinor = amountMinor < originalAmountMinor ? amountMinor : originalAmountMinor
  return ((credits ?? 0n) * partMinor) / originalAmountMinor
}

function sumOf(claims: readonly ClaimInForce[], of: 'amountMinor' | 'credits'): bigint {
  return claims.reduce((sum, claim) => sum + claim[of], 0n)
}
