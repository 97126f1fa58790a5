import { correctionPastMsMax, timestampFutureMsMax, timestampPastMsMax } from '../limits.ts'
import type { ValidationIssue } from './errors.ts'

/**
 * Returns the validation issue of a usage timestamp that is more than 24 h in the future or 30 days in the past, otherwise
 * undefined. A backfill may be up to 13 months in the past. The bounds are inclusive. The check is not part of the schema, because it depends on the current time.
 */
export function faultOfTimestamp(
  timestampMs: number,
  nowMs: number,
  isBackfill = false,
): ValidationIssue | undefined {
  if (timestampMs > nowMs + timestampFutureMsMax) {
    return fault('Timestamp is more than 24 hours in the future')
  }
  if (isBackfill) {
    return timestampMs < nowMs - correctionPastMsMax
      ? fault('Timestamp is more than 13 months in the past')
      : undefined
  }
  if (timestampMs < nowMs - timestampPastMsMax) {
    return fault('Timestamp is more than 30 days in the past')
  }
  return undefined
}

function fault(message: string): ValidationIssue {
  return { code: 'custom', path: ['timestamp'], message }
}
