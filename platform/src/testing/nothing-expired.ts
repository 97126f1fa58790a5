import type { SweepLimits } from '../hot-state/hot-state.ts'

/** Limits with which a sweep deletes nothing that is still needed. */
export const nothingExpired: SweepLimits = {
  marksReceivedBeforeMs: 0,
  reservationsExpiredBeforeMs: 0,
  windowsEndedBeforeSecond: 0,
  slotsBeforeSecond: 0,
  knownSubjectSlotsBeforeSecond: 0,
  keysMax: 10,
}
