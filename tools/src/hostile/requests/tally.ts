import type { HttpAnswer } from './answer-reader.ts'
import type { HostileRequest } from './hostile-request.ts'

export type HostileTally = {
  requests: number
  /** Records that the service reported as new. */
  ackedRecords: number
  /** Maximum records in requests that were sent completely without an answer. They may be stored or not. */
  unansweredRecordsMax: number
  readonly statuses: Map<number | 'no answer', number>
  /** The first answers that must not occur. */
  readonly violations: string[]
}

const violationsMax = 20
/** 503 is a deliberate refusal. The parser answers 505 to requests that it does not recognize as HTTP/1.1. */
const allowedFailures = new Set([503, 505])
const recordsPerRequestMax = 1_000

export function createHostileTally(): HostileTally {
  return {
    requests: 0,
    ackedRecords: 0,
    unansweredRecordsMax: 0,
    statuses: new Map(),
    violations: [],
  }
}

export function countAnswer(
  tally: HostileTally,
  request: HostileRequest,
  answer: HttpAnswer | undefined,
): void {
  tally.requests++
  const status = answer?.status ?? 'no answer'
  tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1)
  if (!answer) {
    if (!request.isBroken && isUsage(request)) tally.unansweredRecordsMax += recordsPerRequestMax
    return
  }
  if (answer.status >= 500 && !allowedFailures.has(answer.status)) {
    addViolation(tally, request, `${answer.status} ${answer.body.slice(0, 300)}`)
  }
  if (answer.status === 200 && isUsage(request)) tally.ackedRecords += newRecords(answer.body)
}

function isUsage({ method, path }: HostileRequest): boolean {
  return method === 'POST' && /^\/v1\/sdk\/(usages|meter-events)(\/bulk)?$/.test(path)
}

function newRecords(body: string): number {
  const answer = JSON.parse(body) as { inserted?: number; creditDebit?: { reason?: string } }
  if (answer.inserted !== undefined) return answer.inserted
  return answer.creditDebit?.reason === 'duplicate' ? 0 : 1
}

/** Records a violation: a complete request on a valid connection got no answer. */
export function addUnanswered(
  tally: HostileTally,
  request: HostileRequest,
  before: HostileRequest | undefined,
): void {
  addViolation(tally, request, `no answer after ${before?.bytes.toString('latin1').slice(0, 300)}`)
}

function addViolation(tally: HostileTally, request: HostileRequest, what: string): void {
  if (tally.violations.length >= violationsMax) return
  const sent = JSON.stringify(request.bytes.toString('latin1').slice(0, 1_500))
  tally.violations.push(`${what} to ${sent}`)
}
