import type { ClaimInForce } from '../payments/take-backs-repository.ts'

/** What a payment had bought. */
export type BoughtCredits = {
  /** Whole credits. */
  readonly credits: bigint
  /** What they cost: minor units of the payment's currency. */
  readonly amountMinor: bigint
}

/**
 * Returns how many credits a part of the payment claims that has gone back to the customer, beside the claims of other
 * parts. Rounded down for all that has gone back by now, so that claims never exceed what all of it had bought.
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
  /** References of claims without money of their own that are undone as well: they had stood in for the undone one. */
  readonly undone: readonly string[]
  /** What the claims that are left lack of their right; undefined: nothing. */
  readonly rest: Pick<ClaimInForce, 'cause' | 'credits'> | undefined
}

/**
 * Decides what becomes of the claims in force once the money of another claim has come back. Claims that came second found
 * fewer credits left than their money had bought, and now have a right to the rest.
 */
export function claimsAfterUndo(
  bought: BoughtCredits,
  inForce: readonly ClaimInForce[],
): ClaimsAfterUndo {
  const owed = creditsOf(bought, sumOf(inForce, 'amountMinor'))
  const isTooMuch = sumOf(inForce, 'credits') > owed
  const given = inForce.filter(({ amountMinor }) => isTooMuch && amountMinor === 0n)
  const left = inForce.filter((each) => !given.includes(each))
  const undone = given.map(({ reference }) => reference)
  const credits = owed - sumOf(left, 'credits')
  if (credits <= 0n) return { undone, rest: undefined }
  const cause = left.some((each) => each.cause === 'dispute') ? 'dispute' : 'refund'
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
