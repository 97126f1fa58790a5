import { acceptCloudEvents } from '@tollgate/schemas/http/accept-cloud-event'
import { cloudEventsSchema, type CloudEventsInput } from '@tollgate/schemas/http/cloud-events'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { bulkEvents } from '../../domain/bulk-events.ts'
import { cloudEvent } from '../../domain/cloud-events.ts'
import type { KeyHolder } from '../../domain/key-holder.ts'
import { hotRoute, validationAnswer } from '../hot-route.ts'
import type { Answer, HotRoute } from '../http-front.ts'
import { countsText, eventResultFields } from './usage-result.ts'
import { recordAndAnswerAll } from './record-and-answer.ts'
import { withReceipt, type RecordingParts } from './recording-parts.ts'

export const eventsBatchPath = '/v1/events/batch'

/** `POST /v1/events/batch`: records up to 1000 CloudEvents, all or none. */
export function eventsBatchRoute(parts: RecordingParts): HotRoute {
  const { keys, nowMs, unknownNames } = parts
  const path = eventsBatchPath
  return hotRoute<CloudEventsInput>({
    path,
    keys,
    nowMs,
    unknownNames,
    accept: acceptCloudEvents,
    schema: cloudEventsSchema,
    handle: (call) =>
      withReceipt(parts, call, subjectsOf, (receipt) => {
        const bulk = bulkEvents(call.input, [], (item) => cloudEvent(item, receipt))
        if (bulk.kind === 'refused') return validationAnswer({ path, nowMs }, bulk.issues)
        return record(parts, call.holder, call.authorization, bulk.events)
      }),
  })
}

function subjectsOf(input: CloudEventsInput): readonly string[] {
  return input.map(({ subject }) => subject)
}

function record(
  parts: RecordingParts,
  holder: KeyHolder,
  authorization: string,
  events: readonly MeterEvent[],
): Promise<Answer> {
  const references = events.map(({ id }) => id)
  const counts = events.map(countsText)
  return recordAndAnswerAll(parts, holder, authorization, events, (recorded, at) =>
    eventResultFields(references[at]!, counts[at]!, recorded),
  )
}
