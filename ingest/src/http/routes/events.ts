import { acceptCloudEvent } from '@tollgate/schemas/http/accept-cloud-event'
import { cloudEventSchema, type CloudEventInput } from '@tollgate/schemas/http/cloud-events'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { isEvent } from '../../domain/bulk-events.ts'
import { cloudEvent } from '../../domain/cloud-events.ts'
import type { KeyHolder } from '../../domain/key-holder.ts'
import { hotRoute, validationAnswer } from '../hot-route.ts'
import type { Answer, HotRoute } from '../http-front.ts'
import { countsText, eventResultFields } from './usage-result.ts'
import { recordAndAnswer } from './record-and-answer.ts'
import { withReceipt, type RecordingParts } from './recording-parts.ts'

export const eventsPath = '/v1/events'

/** `POST /v1/events`: records one CloudEvent, which may count on several meters. */
export function eventsRoute(parts: RecordingParts): HotRoute {
  const { keys, nowMs, unknownNames } = parts
  const path = eventsPath
  return hotRoute<CloudEventInput>({
    path,
    keys,
    nowMs,
    unknownNames,
    accept: acceptCloudEvent,
    schema: cloudEventSchema,
    handle: (call) =>
      withReceipt(parts, call, subjectOf, (receipt) => {
        const built = cloudEvent(call.input, receipt)
        if (!isEvent(built)) return validationAnswer({ path, nowMs }, [built])
        return record(parts, call.holder, call.authorization, built)
      }),
  })
}

function subjectOf({ subject }: CloudEventInput): readonly string[] {
  return [subject]
}

function record(
  parts: RecordingParts,
  holder: KeyHolder,
  authorization: string,
  event: MeterEvent,
): Promise<Answer> {
  const { id } = event
  const counts = countsText(event)
  return recordAndAnswer(parts, holder, authorization, event, (recorded) =>
    eventResultFields(id, counts, recorded),
  )
}
