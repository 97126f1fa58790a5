import type { ClaimInForce } from '../payments/take-backs-repository.ts'

/** Credits that a payment had bought. */
export type BoughtCredits = {
  /** Number of whole credits. */
  readonly credits: bigint
  /** Their price in minor units of the payment's currency. */
  readonly amountMinor: bigint
}

/**
 * Returns how many credits a refunded or disputed part of the payment claims, in addition to the claims of other parts. The number
 * is rounded down on the running total, so claims never exceed the credits that were bought.
 */
export function claimedCredits(
  bought: BoughtCredits,
  others: readonly ClaimInForce[],
  amountMinor: bigint,
): bigint {
  const upTo = creditsOf(bought, sumOf(others, 'amountMinor') + amountMinor)
  const before = sumOf(others, 'credits')
  return upTo > before ? upTo - before : 0n
}

export type ClaimsAfterUndo = {
  /** References of claims without an amount that are undone as well, because they replaced credits of the undone claim. */
  readonly undone: readonly string[]
  /** Credits that the remaining claims are entitled to but lack; undefined if they lack none. */
  readonly rest: Pick<ClaimInForce, 'cause' | 'credits'> | undefined
}

/**
 * Decides what happens to the claims in force after the money of another claim came back. Later claims may have found fewer credits
 * than their money had bought, and are now entitled to the rest.
 */
export function claimsAfterUndo(
  bought: BoughtCredits,
  inForce: readonly ClaimInForce[],
): ClaimsAfterUndo {
  const entitled = creditsOf(bought, sumOf(inForce, 'amountMinor'))
  const isTooMuch = sumOf(inForce, 'credits') > entitled
  const replaced = inForce.filter(({ amountMinor }) => isTooMuch && amountMinor === 0n)
  const remaining = inForce.filter((each) => !replaced.includes(each))
  const undone = replaced.map(({ reference }) => reference)
  const credits = entitled - sumOf(remaining, 'credits')
  if (credits <= 0n) return { undone, rest: undefined }
  const cause = remaining.some((each) => each.cause === 'dispute') ? 'dispute' : 'refund'
  return { undone, rest: { cause, credits } }
}

function creditsOf(
  { credits, amountMinor: paidMinor }: BoughtCredits,
  amountMinor: bigint,
): bigint {
  const partMinor = amountMinor < paidMinor ? amountMinor : paidMinor
  return (credits * partMinor) / paidMinor
}

function sumOf(claims: readonly ClaimInForce[], of: 'amountMinor' | 'credits'): bigint {
  return claims.reduce((sum, claim) => sum + claim[of], 0n)
}
