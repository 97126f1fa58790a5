import { timestampFutureMsMax, timestampPastMsMax } from '../limits.ts'
import type { ValidationIssue } from './errors.ts'

/**
 * What is wrong with the time of a usage event, given the clock: more than 24 h ahead or 30 days back. The bounds
 * themselves are allowed. It is no part of the schema because it depends on when it is asked.
 */
export function faultOfTimestamp(timestampMs: number, nowMs: number): ValidationIssue | undefined {
  if (timestampMs > nowMs + timestampFutureMsMax) {
    return fault('Timestamp is more than 24 hours in the future')
  }
  if (timestampMs < nowMs - timestampPastMsMax) {
    return fault('Timestamp is more than 30 days in the past')
  }
  return undefined
}

function fault(message: string): ValidationIssue {
  return { code: 'custom', path: ['timestamp'], message }
}
