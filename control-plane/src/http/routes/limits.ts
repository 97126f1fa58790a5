import { releaseReservation } from '@tollgate/domain/reservations/release-reservation'
import {
  limitsRequestSchema,
  limitsResponseSchema,
  type LimitsRequest,
  type LimitsResponse,
} from '@tollgate/schemas/http/limits'
import {
  faultOfTtl,
  releaseRequestSchema,
  releaseResponseSchema,
} from '@tollgate/schemas/http/reservations'
import type { Operation } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { HostedParts } from '@tollgate/domain/sessions/hosted-parts'
import type { Clock } from '@tollgate/platform/clock/clock'
import { checkLimit } from '../../limits/check-limit.ts'
import { reserveLimit, type ReservationParts } from '../../limits/reserve-limit.ts'
import { withHostedPage } from '../../limits/with-hosted-page.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { callerOf, operationOf } from '../../access/caller.ts'
import { mayManage } from '../../access/scopes.ts'
import { InvalidRequestError } from '../../errors.ts'

type Parts = ReservationParts &
  HostedParts & {
    readonly clock: Clock
    readonly limits: { readonly reservationSecondsMax: number }
  }

/** Registers the limit checks. The data plane answers most of them itself and forwards the rest to these routes. */
export function registerLimitRoutes(app: ApiServer, parts: Parts): void {
  app.post(
    '/v1/sdk/limits',
    {
      config: { scope: 'ingest' },
      schema: {
        tags: ['Limits'],
        body: limitsRequestSchema,
        response: { 200: limitsResponseSchema },
      },
    },
    async (request) => {
      const operation = operationOf(request, parts.clock)
      const idempotencyKey = request.body.idempotencyKey || operation.idempotencyKey
      const body = { ...request.body, idempotencyKey: idempotencyKey ?? undefined }
      const answer = await checkOrReserve(parts, operation, body)
      if (answer.withinLimits || !body.includeCheckoutSession) return answer
      return await withHostedPage(parts, operation, body, answer, { mayManage: mayManage(request) })
    },
  )

  app.post(
    '/v1/sdk/limits/release',
    {
      config: { scope: 'ingest' },
      schema: {
        tags: ['Limits'],
        body: releaseRequestSchema,
        response: { 200: releaseResponseSchema },
      },
    },
    async (request) => {
      const { environment, providerId } = callerOf(request)
      const { reservationId } = request.body
      const released = await releaseReservation(parts, environment, providerId, reservationId)
      return { success: true as const, released }
    },
  )
}

async function checkOrReserve(
  parts: Parts,
  operation: Operation,
  request: LimitsRequest,
): Promise<LimitsResponse> {
  const { reserve } = request
  if (reserve === undefined) return checkLimit(parts, operation, request)
  const fault = faultOfTtl(reserve, parts.limits.reservationSecondsMax)
  if (fault !== undefined) throw new InvalidRequestError([fault])
  return reserveLimit(parts, operation, { ...request, reserve })
}
