import type { Spread } from '../load/statistics.ts'

/** Returns the median, and the smallest and largest value if they differ: `0.46 (0.44 to 0.49)`. */
export function spreadText({ median, min, max }: Spread): string {
  const text = ratioText(median)
  return min === max ? text : `${text} (${ratioText(min)} to ${ratioText(max)})`
}

/** Small ratios have two digits too, because 0.00 would show no change. */
function ratioText(ratio: number): string {
  return ratio < 0.1 ? ratio.toPrecision(2) : ratio.toFixed(2)
}
