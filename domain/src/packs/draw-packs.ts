/** A pack that units may be drawn from. */
export type DrawablePack = {
  readonly leftMicros: bigint
  readonly startsAt: Date
  /** Null if the units do not expire. */
  readonly endsAt: Date | null
}

/** A period whose usage packs may pay for, or the part of it that is settled. */
type DrawnSpan = { readonly end: Date }

/** Units drawn from one pack, 10^-6, never 0. */
export type Draw<Pack> = { readonly pack: Pack; readonly micros: bigint }

/**
 * Returns the draws that pay for `excessMicros`, the units of the span that neither the plan nor earlier draws provide. Packs that
 * end first are drawn first, the oldest of several. A pack pays for the whole period in which it was bought.
 *
 * The caller leaves out packs whose end is settled. One that ends within a running period pays for the usage until now.
 */
export function drawPacks<Pack extends DrawablePack>(
  packs: readonly Pack[],
  { end }: DrawnSpan,
  excessMicros: bigint,
): Draw<Pack>[] {
  const draws: Draw<Pack>[] = []
  let missing = excessMicros
  for (const pack of packs.toSorted(byUse)) {
    if (missing <= 0n) break
    if (pack.leftMicros <= 0n || pack.startsAt >= end) continue
    const micros = pack.leftMicros < missing ? pack.leftMicros : missing
    draws.push({ pack, micros })
    missing -= micros
  }
  return draws
}

/** Orders packs as their units are used. */
export function byUse(one: DrawablePack, other: DrawablePack): number {
  const ends = endMs(one) - endMs(other)
  if (ends !== 0 && !Number.isNaN(ends)) return ends
  return one.startsAt.getTime() - other.startsAt.getTime()
}

function endMs({ endsAt }: DrawablePack): number {
  return endsAt?.getTime() ?? Infinity
}
