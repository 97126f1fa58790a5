import { releaseRequestSchema, type ReleaseRequest } from '@tollgate/schemas/http/reservations'
import type { KeyDirectory } from '../../domain/key-holder.ts'
import type { CallControlPlane } from '../../domain/call-control-plane.ts'
import type { Reserver } from '../../hot-state/reserver.ts'
import { hotRoute } from '../hot-route.ts'
import type { Answer, HotRoute } from '../http-front.ts'
import type { UnknownNameCounts } from '../unknown-in-call.ts'

export const releasePath = '/v1/sdk/limits/release'

export type ReleaseParts = {
  readonly keys: KeyDirectory
  readonly reserver: Reserver
  readonly callControlPlane: CallControlPlane
  readonly nowMs: () => number
  readonly unknownNames: UnknownNameCounts
}

/** `POST /v1/sdk/limits/release`: releases the units that a limit check reserved. */
export function releaseRoute(parts: ReleaseParts): HotRoute {
  const { keys, reserver, callControlPlane, nowMs, unknownNames } = parts
  return hotRoute<ReleaseRequest>({
    path: releasePath,
    keys,
    nowMs,
    unknownNames,
    schema: releaseRequestSchema,
    handle: async ({ holder, authorization, requestId, input }): Promise<Answer> => {
      const released = await reserver.release(holder, input.reservationId)
      if (released === 'unknown') {
        return callControlPlane(releasePath, authorization, JSON.stringify(input), requestId)
      }
      return { status: 200, body: `{"success":true,"released":${released}}` }
    },
  })
}
