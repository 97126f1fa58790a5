import type { AttemptRecord } from '../src/domain/attempt-record.ts'
import type { Claim } from '../src/postgres/claim-deliveries.ts'

/** Returns a claim for the first attempts of all endpoints. */
export function firstClaim(now: Date): Claim {
  return {
    turn: 'first',
    now,
    leasedUntil: new Date(now.getTime() + 60_000),
    deliveriesMax: 20,
    perEndpointMax: 4,
    room: {},
    after: '',
  }
}

export function firstAttempt(startedAt: Date, status: number): AttemptRecord {
  return {
    number: 1,
    isReversed: false,
    startedAt,
    durationMs: 1,
    connectMs: null,
    answerMs: null,
    status,
    errorClass: null,
    answer: null,
    address: null,
  }
}
