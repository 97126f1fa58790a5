import { acceptCloudEvent } from '@tollgate/schemas/http/accept-cloud-event'
import { cloudEventSchema, type CloudEventInput } from '@tollgate/schemas/http/cloud-events'
import { isEvent } from '../../domain/bulk-events.ts'
import { cloudEvent } from '../../domain/cloud-events.ts'
import { beginRecharges } from '../../recording/begin-recharges.ts'
import { recordUsage } from '../../recording/record-usage.ts'
import { hotRoute, validationAnswer } from '../hot-route.ts'
import type { HotRoute } from '../http-front.ts'
import { eventResultFields } from './usage-result.ts'
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
      withReceipt(parts, call, async (receipt) => {
        const built = cloudEvent(call.input, receipt)
        if (!isEvent(built)) return validationAnswer({ path, nowMs }, [built])
        const recorded = await recordUsage(parts, call.holder, built)
        const [result] = await beginRecharges(parts.recharges, call.authorization, [recorded])
        return { status: 200, body: `{"success":true,${eventResultFields(built, result!)}}` }
      }),
  })
}
