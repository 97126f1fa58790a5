export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** Returns the smallest value that `fraction` of the values do not exceed. */
export function quantile(values: readonly number[], fraction: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  const at = Math.max(0, Math.ceil(sorted.length * fraction) - 1)
  return sorted[at] ?? Number.NaN
}
