/** Amounts are stored as 128-bit two's complement, because 64 bits would overflow after a thousand of the largest values. */
export const amountBytes = 16

export function readAmount(bytes: Buffer, at: number): bigint {
  const low = bytes.readBigUInt64LE(at)
  const high = bytes.readBigInt64LE(at + 8)
  return high === 0n ? low : (high << 64n) + low
}

export function writeAmount(bytes: Buffer, at: number, amount: bigint): void {
  bytes.writeBigUInt64LE(BigInt.asUintN(64, amount), at)
  bytes.writeBigInt64LE(BigInt.asIntN(64, amount >> 64n), at + 8)
}
