const dayMs = 86_400_000

/** Undefined for a plan without a trial. The first charge, set-up fee included, is due when it ends. */
export function trialEnd(trialDays: number | undefined, start: Date): Date | undefined {
  if (trialDays === undefined || trialDays <= 0) return undefined
  return new Date(start.getTime() + trialDays * dayMs)
}
