const dayMs = 86_400_000

/** Returns the range of the last days in UTC, today included: from the start of the first to the end of today. */
export function lastDays(days: number, nowMs: number): { from: string; to: string } {
  const endMs = (Math.floor(nowMs / dayMs) + 1) * dayMs
  return { from: new Date(endMs - days * dayMs).toISOString(), to: new Date(endMs).toISOString() }
}
