/*
 * What the months of the pricing team's customers cost, computed from the price list by hand. It shares no code with the product:
 * amounts are integers of a millionth of a cent.
 */

const micro = 1_000_000n

/** Pro: 0.5 cents per request above 1,000 in a month, and 0.3 cents above 10,000. */
export function requestsOfPro(requests: number): number {
  const above = BigInt(Math.max(0, requests - 1_000))
  const first = above < 9_000n ? above : 9_000n
  return cents(first * 500_000n + (above - first) * 300_000n)
}

/** Scale: each token costs 0.0004 cents, or 0.00025 cents in a month of more than a million tokens. */
export function tokensOfScale(tokens: number): number {
  return cents(BigInt(tokens) * (tokens > 1_000_000 ? 250n : 400n))
}

/** Rounds half a cent up. */
function cents(millionths: bigint): number {
  return Number((millionths + micro / 2n) / micro)
}
