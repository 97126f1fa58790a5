export type FlushLimits = {
  readonly rowsMax: number
  readonly delayMs: number
}

/** Whether to store now, or how long to wait for more: large inserts are cheap, late rows are not wanted. */
export function planFlush(
  waitingTotal: number,
  waitedMs: number,
  limits: FlushLimits,
): { readonly kind: 'flush' } | { readonly kind: 'wait'; readonly waitMs: number } {
  if (waitingTotal >= limits.rowsMax || waitedMs >= limits.delayMs) return { kind: 'flush' }
  return { kind: 'wait', waitMs: limits.delayMs - waitedMs }
}
