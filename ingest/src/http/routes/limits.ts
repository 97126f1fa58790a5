import { acceptLimits } from '@tollgate/schemas/http/accept-limits'
import { limitsRequestSchema, type LimitsRequest } from '@tollgate/schemas/http/limits'
import { faultOfTtl } from '@tollgate/schemas/http/reservations'
import type { InFlightLimit } from '../../domain/in-flight-limit.ts'
import type { KeyDirectory } from '../../domain/key-holder.ts'
import type { CallControlPlane } from '../../domain/call-control-plane.ts'
import type { LimitChecker } from '../../hot-state/limit-checker.ts'
import type { LimitDecision } from '../../domain/limit-decision.ts'
import type { Reserver } from '../../hot-state/reserver.ts'
import { keyedByHeader } from '../header-key.ts'
import { hotRoute, validationAnswer, type HotCall } from '../hot-route.ts'
import type { Answer, HotRoute } from '../http-front.ts'
import type { UnknownNameCounts } from '../unknown-in-call.ts'

export const limitsPath = '/v1/sdk/limits'

export type LimitsCounts = {
  limitsAllowed: number
  limitsDenied: number
  limitsForwarded: number
  readonly limitFallbacks: Record<'behind' | 'unreadable', number>
}

export type LimitsParts = {
  readonly keys: KeyDirectory
  readonly limits: LimitChecker
  readonly reserver: Reserver
  /** Longest duration of a reservation in seconds. */
  readonly reservationSecondsMax: number
  readonly callControlPlane: CallControlPlane
  /** Bounds the checks that the control plane answers at a time because the counters cannot. */
  readonly fallbacks: InFlightLimit
  readonly counts: LimitsCounts
  readonly nowMs: () => number
  readonly unknownNames: UnknownNameCounts
}

/**
 * `POST /v1/sdk/limits`: is the customer within the limits? Checks that are not decided here are forwarded to the control plane.
 */
export function limitsRoute(parts: LimitsParts): HotRoute {
  return hotRoute<LimitsRequest>({
    path: limitsPath,
    keys: parts.keys,
    nowMs: parts.nowMs,
    unknownNames: parts.unknownNames,
    accept: acceptLimits,
    schema: limitsRequestSchema,
    withHeaderKey: keyedByHeader,
    // Only the control plane creates checkout sessions.
    handle: (call) => {
      const fault = faultOfTtl(call.input.reserve, parts.reservationSecondsMax)
      if (fault !== undefined) {
        return validationAnswer({ path: limitsPath, nowMs: parts.nowMs }, [fault])
      }
      return call.input.includeCheckoutSession ? forward(parts, call) : decide(parts, call)
    },
  })
}

function decide(parts: LimitsParts, call: HotCall<LimitsRequest>): Answer | Promise<Answer> {
  const { holder, input, caller } = call
  const { reserve } = input
  const decision =
    reserve === undefined
      ? parts.limits.check(holder, input, caller)
      : parts.reserver.reserve(holder, { ...input, reserve })
  if (decision instanceof Promise) return decision.then((made) => answer(parts, call, made))
  return answer(parts, call, decision)
}

function answer(
  parts: LimitsParts,
  call: HotCall<LimitsRequest>,
  decision: LimitDecision,
): Answer | Promise<Answer> {
  if (decision.kind === 'unknown') return forward(parts, call)
  if (decision.kind === 'unanswerable') return fallBack(parts, call, decision.reason)
  const { response } = decision
  if (response.withinLimits) parts.counts.limitsAllowed += 1
  else parts.counts.limitsDenied += 1
  return { status: 200, body: JSON.stringify(response) }
}

function forward(parts: LimitsParts, call: HotCall<LimitsRequest>): Promise<Answer> {
  parts.counts.limitsForwarded += 1
  return parts.callControlPlane(
    limitsPath,
    call.authorization,
    JSON.stringify(call.input),
    call.requestId,
  )
}

async function fallBack(
  parts: LimitsParts,
  call: HotCall<LimitsRequest>,
  reason: 'behind' | 'unreadable',
): Promise<Answer> {
  const { fallbacks, counts, callControlPlane } = parts
  fallbacks.enter(1, 0)
  counts.limitFallbacks[reason] += 1
  try {
    return await callControlPlane(
      limitsPath,
      call.authorization,
      JSON.stringify(call.input),
      call.requestId,
    )
  } finally {
    fallbacks.leave(1, 0)
  }
}
