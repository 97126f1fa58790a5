import type { SweepLimits } from '../hot-state/hot-state.ts'

/** Limits by which a sweep leaves everything that anybody may still need. */
export const nothingExpired: SweepLimits = {
  marksReceivedBeforeMs: 0,
  reservationsExpiredBeforeMs: 0,
  windowsEndedBeforeSecond: 0,
  slotsBeforeSecond: 0,
  knownSubjectSlotsBeforeSecond: 0,
  keysMax: 10,
}
