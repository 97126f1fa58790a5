const dayMs = 86_400_000

/** Returns the end of a trial, undefined for a plan without one. The first charge, including the set-up fee, is due then. */
export function trialEnd(trialDays: number | undefined, start: Date): Date | undefined {
  if (trialDays === undefined || trialDays <= 0) return undefined
  return new Date(start.getTime() + trialDays * dayMs)
}
