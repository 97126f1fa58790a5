/* Arithmetic with whole amounts, such as minor units of a currency or 10^-6 units of usage. */

export function sumOf(amounts: readonly bigint[]): bigint {
  return amounts.reduce((sum, amount) => sum + amount, 0n)
}

export function lesser(one: bigint, other: bigint): bigint {
  return one < other ? one : other
}

export function atLeastZero(amount: bigint): bigint {
  return amount > 0n ? amount : 0n
}
