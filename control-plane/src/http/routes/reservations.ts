import {
  extendReservation,
  type ExtensionParts,
} from '@tollgate/domain/reservations/release-reservation'
import type { Clock } from '@tollgate/platform/clock/clock'
import {
  extendRequestSchema,
  extendResponseSchema,
  faultOfTtl,
  reservationsRequestSchema,
  reservationsResponseSchema,
} from '@tollgate/schemas/http/reservations'
import type { ApiServer } from '../../access/api-server.ts'
import { callerOf, operationOf } from '../../access/caller.ts'
import { InvalidRequestError, refusals } from '../../errors.ts'
import { reserveForLimits } from '../../limits/reserve-batch.ts'
import type { ReservationParts } from '../../limits/reserve-limit.ts'

type Parts = ReservationParts &
  ExtensionParts & {
    readonly clock: Clock
    readonly limits: { readonly reservationSecondsMax: number }
  }

/** Registers the routes that extend a reservation, and that make several at once. */
export function registerReservationRoutes(app: ApiServer, parts: Parts): void {
  app.post(
    '/v1/sdk/limits/extend',
    {
      config: { scope: 'ingest' },
      schema: {
        tags: ['Limits'],
        body: extendRequestSchema,
        response: { 200: extendResponseSchema },
      },
    },
    async (request) => {
      const { environment, providerId } = callerOf(request)
      const fault = faultOfTtl(request.body, parts.limits.reservationSecondsMax, [])
      if (fault !== undefined) throw new InvalidRequestError([fault])
      const outcome = await extendReservation(parts, environment, providerId, request.body)
      switch (outcome.kind) {
        case 'gone':
          throw refusals.reservationGone()
        case 'too-long':
          throw refusals.reservationTooLong(new Date(outcome.latestMs).toISOString())
        case 'extended':
          return { success: true as const, expiresAt: new Date(outcome.expiresAtMs).toISOString() }
      }
    },
  )

  app.post(
    '/v1/sdk/limits/reservations',
    {
      config: { scope: 'ingest' },
      schema: {
        tags: ['Limits'],
        body: reservationsRequestSchema,
        response: { 200: reservationsResponseSchema },
      },
    },
    async (request) => {
      const { reservations } = request.body
      const faults = reservations.flatMap(({ reserve }, index) => {
        const path = ['reservations', index, 'reserve']
        return faultOfTtl(reserve, parts.limits.reservationSecondsMax, path) ?? []
      })
      if (faults.length > 0) throw new InvalidRequestError(faults)
      return await reserveForLimits(parts, operationOf(request, parts.clock), request.body)
    },
  )
}
