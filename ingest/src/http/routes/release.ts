import { releaseRequestSchema, type ReleaseRequest } from '@tollgate/schemas/http/reservations'
import type { KeyDirectory } from '../../domain/key-holder.ts'
import type { AskControlPlane } from '../../domain/limit-checker.ts'
import type { Reserver } from '../../domain/reserver.ts'
import { hotRoute } from '../hot-route.ts'
import type { Answer, HotRoute } from '../http-front.ts'

export const releasePath = '/v1/sdk/limits/release'

export type ReleaseParts = {
  readonly keys: KeyDirectory
  readonly reserver: Reserver
  readonly askControlPlane: AskControlPlane
  readonly nowMs: () => number
}

/** `POST /v1/sdk/limits/release`: gives back what a limit check reserved. */
export function releaseRoute({ keys, reserver, askControlPlane, nowMs }: ReleaseParts): HotRoute {
  return hotRoute<ReleaseRequest>({
    path: releasePath,
    keys,
    nowMs,
    schema: releaseRequestSchema,
    handle: async ({ holder, authorization, input }): Promise<Answer> => {
      const released = await reserver.release(holder, input.reservationId)
      if (released === 'unknown') {
        return askControlPlane(releasePath, authorization, JSON.stringify(input))
      }
      return { status: 200, body: `{"success":true,"released":${released}}` }
    },
  })
}
