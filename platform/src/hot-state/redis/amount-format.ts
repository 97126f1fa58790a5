/*
 * Redis counts in 64 bits. An amount is stored as low + high * 2^62 in two fields; the second one exists only if needed
 * (scripts/amounts.ts).
 */
const unitBits = 62n
const unit = 1n << unitBits
const amountLimit = 1n << 100n

/** Returns the amount as text, or its low and high part if it does not fit in 62 bits. */
export function splitAmount(amount: bigint): string | readonly [low: string, high: string] {
  if (amount < unit && amount > -unit) return amount.toString()
  if (amount >= amountLimit || amount <= -amountLimit) {
    throw new RangeError(`An increment has at most 100 bits: ${amount}`)
  }
  const high = amount >> unitBits
  return [(amount - high * unit).toString(), high.toString()]
}

/** Returns the amount of two fields, the second in units of 2^62. */
export function joinAmount(low: string, high: string): bigint {
  return BigInt(low) + BigInt(high) * unit
}

/**
 * Returns the amounts per window of a counter from a Redis hash reply: names and values alternate. Amounts that are put aside (`w`)
 * are ignored; they are compared when a publication ends (scripts/put-entry.ts). So are buckets (`b`, `n`; bucket-format.ts).
 */
export function readAmounts(fields: readonly string[]): Map<string, bigint> {
  const amounts = new Map<string, bigint>()
  for (let at = 0; at < fields.length; at += 2) {
    const field = fields[at]!
    const isHigh = field.startsWith('^')
    const kind = field[isHigh ? 1 : 0]
    if (kind !== 's' && kind !== 'u') continue
    const value = BigInt(fields[at + 1]!)
    const id = field.slice(isHigh ? 2 : 1)
    amounts.set(id, (amounts.get(id) ?? 0n) + (isHigh ? value * unit : value))
  }
  return amounts
}
