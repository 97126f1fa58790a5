/*
 * Redis counts in 64 bits. An amount is kept as low + high * 2^62 in two fields, of which the second one is there only
 * where it is needed (scripts/amounts.ts).
 */
const unitBits = 62n
const unit = 1n << unitBits
const amountLimit = 1n << 100n

/** The text of the amount, or of its low and high part when it is larger than the field's own 62 bits. */
export function splitAmount(amount: bigint): string | readonly [low: string, high: string] {
  if (amount < unit && amount > -unit) return amount.toString()
  if (amount >= amountLimit || amount <= -amountLimit) {
    throw new RangeError(`An increment has at most 100 bits: ${amount}`)
  }
  const high = amount >> unitBits
  return [(amount - high * unit).toString(), high.toString()]
}

/** The amount that two fields hold, the second one in units of 2^62. */
export function joinAmount(low: string, high: string): bigint {
  return BigInt(low) + BigInt(high) * unit
}

/**
 * The amounts per window of a counter, given as Redis lists a hash: names and values in turn. What is put aside (`w`)
 * is compared with the others when a publication ends (scripts/put-entry.ts), and counts for nothing until then.
 */
export function readAmounts(fields: readonly string[]): Map<string, bigint> {
  const amounts = new Map<string, bigint>()
  for (let at = 0; at < fields.length; at += 2) {
    const field = fields[at]!
    const value = BigInt(fields[at + 1]!)
    const isHigh = field.startsWith('^')
    if (field[isHigh ? 1 : 0] === 'w') continue
    const id = field.slice(isHigh ? 2 : 1)
    amounts.set(id, (amounts.get(id) ?? 0n) + (isHigh ? value * unit : value))
  }
  return amounts
}
