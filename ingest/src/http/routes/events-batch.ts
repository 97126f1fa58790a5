import { acceptCloudEvents } from '@tollgate/schemas/http/accept-cloud-event'
import { cloudEventsSchema, type CloudEventsInput } from '@tollgate/schemas/http/cloud-events'
import { bulkEvents } from '../../domain/bulk-events.ts'
import { cloudEvent } from '../../domain/cloud-events.ts'
import { beginRecharges } from '../../recording/begin-recharges.ts'
import { recordAllUsage } from '../../recording/record-usage.ts'
import { hotRoute, validationAnswer } from '../hot-route.ts'
import type { HotRoute } from '../http-front.ts'
import { eventResultFields } from './usage-result.ts'
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
      withReceipt(parts, call, async (receipt) => {
        const bulk = bulkEvents(call.input, [], (item) => cloudEvent(item, receipt))
        if (bulk.kind === 'refused') return validationAnswer({ path, nowMs }, bulk.issues)
        const { events } = bulk
        const recorded = await recordAllUsage(parts, call.holder, events)
        const answered = await beginRecharges(parts.recharges, call.authorization, recorded)
        const inserted = answered.filter(({ outcome }) => outcome === 'recorded').length
        const results = answered.map((each, at) => `{${eventResultFields(events[at]!, each)}}`)
        const body = `{"success":true,"inserted":${inserted},"results":[${results.join(',')}]}`
        return { status: 200, body }
      }),
  })
}
