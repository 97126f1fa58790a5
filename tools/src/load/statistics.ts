export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

export type Spread = {
  readonly median: number
  readonly min: number
  readonly max: number
}

export function spreadOf(values: readonly number[]): Spread {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) }
}

/** Returns the median of each of the members over all results. */
export function mediansOf<Member extends string>(
  results: readonly Readonly<Record<Member, number>>[],
  members: readonly Member[],
): Record<Member, number> {
  const medians = members.map((member) => [member, median(results.map((each) => each[member]))])
  return Object.fromEntries(medians) as Record<Member, number>
}

/** Returns the smallest value that `fraction` of the values do not exceed. */
export function quantile(values: readonly number[], fraction: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  const at = Math.max(0, Math.ceil(sorted.length * fraction) - 1)
  return sorted[at] ?? Number.NaN
}
