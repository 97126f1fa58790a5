import {
  appendCorrectionsPath,
  appendCorrectionsSchema,
  type AppendCorrectionsInput,
} from '@tollgate/schemas/http/usage-corrections'
import { correctionEvent } from '../../domain/correction-events.ts'
import type { LogRecorder } from '../../event-log/log-recorder.ts'
import type { KeyDirectory } from '../../domain/key-holder.ts'
import type { PlaceEvent } from '../../domain/placed-event.ts'
import { refusal } from '../answers.ts'
import { hotRoute } from '../hot-route.ts'
import type { HotRoute } from '../http-front.ts'
import type { UnknownNameCounts } from '../unknown-in-call.ts'

export type AppendCorrectionsParts = {
  readonly keys: KeyDirectory
  readonly recorder: LogRecorder
  readonly place: PlaceEvent
  readonly nowMs: () => number
  readonly unknownNames: UnknownNameCounts
}

/**
 * `POST /internal/usage-corrections`: appends the records of a correction, all or none. The ids of the records depend only on the
 * correction and the originals, so a repeated request appends records that count as duplicates. Keys of providers get the response
 * of a route that does not exist.
 */
export function appendCorrectionsRoute(parts: AppendCorrectionsParts): HotRoute {
  const { keys, recorder, place, nowMs, unknownNames } = parts
  const path = appendCorrectionsPath
  return hotRoute<AppendCorrectionsInput>({
    path,
    keys,
    nowMs,
    unknownNames,
    schema: appendCorrectionsSchema,
    handle: ({ holder: { keyId, providerId, environment }, input }) => {
      if (keyId !== 'service') return refusal('route_not_found', `Cannot POST ${path}`)
      const receivedAtMs = nowMs()
      const places = input.records.map((record) =>
        place(environment, correctionEvent(record, providerId, receivedAtMs)),
      )
      return recorder.recordAll(environment, places).then((outcomes) => {
        const appended = outcomes.filter((outcome) => outcome === 'recorded').length
        return { status: 200, body: `{"success":true,"appended":${appended}}` }
      })
    },
  })
}
