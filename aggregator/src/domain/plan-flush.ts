export type FlushLimits = {
  readonly rowsMax: number
  readonly delayMs: number
}

/** Decides whether to store now or how long to wait for more records. Large inserts are cheap, but rows must not be late. */
export function planFlush(
  waitingTotal: number,
  waitedMs: number,
  limits: FlushLimits,
): { readonly kind: 'flush' } | { readonly kind: 'wait'; readonly waitMs: number } {
  if (waitingTotal >= limits.rowsMax || waitedMs >= limits.delayMs) return { kind: 'flush' }
  return { kind: 'wait', waitMs: limits.delayMs - waitedMs }
}
