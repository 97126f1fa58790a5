import type { DrawablePack } from './draw-packs.ts'
import type { Pack, PackAccount } from './pack-account.ts'

/** Returns the units of the pack that are left, as far as usage is settled. Refunded units are not. */
export function leftMicros({
  unitsMicros,
  usedMicros,
  takenMicros,
  claimedMicros,
}: Omit<Pack, 'startsAt' | 'endsAt' | 'meterName' | 'purchaseRef'>): bigint {
  const left = unitsMicros - usedMicros - takenMicros - claimedMicros
  return left > 0n ? left : 0n
}

/** A pack with its units that can still be drawn. */
export type OpenPack = Pack & DrawablePack

/**
 * Returns the packs that may still pay for usage. The units of a pack that ended are forfeited once the usage until its end is
 * settled. Units that are claimed back can be drawn until the claim is settled: usage before the refund has them first.
 */
export function openPacks({ packs, settledTo }: PackAccount): OpenPack[] {
  return packs
    .filter(({ endsAt }) => endsAt === null || endsAt > settledTo)
    .map((pack) => ({ ...pack, leftMicros: leftMicros({ ...pack, claimedMicros: 0n }) }))
    .filter((pack) => pack.leftMicros > 0n)
}
