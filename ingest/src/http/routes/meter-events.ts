import { acceptMeterEvent } from '@tollgate/schemas/http/accept-meter-event'
import { meterEventSchema, type MeterEventInput } from '@tollgate/schemas/http/meter-events'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { isEvent } from '../../domain/bulk-events.ts'
import type { KeyHolder } from '../../domain/key-holder.ts'
import { recordUsage } from '../../recording/record-usage.ts'
import { faultOfMeter, isBuiltInMeter, meterEvent } from '../../domain/meter-events.ts'
import { keyedByHeader } from '../header-key.ts'
import { hotRoute, validationAnswer } from '../hot-route.ts'
import type { Answer, HotRoute } from '../http-front.ts'
import { customersOfOne, withReceipt, type RecordingParts } from './recording-parts.ts'

export const meterEventsPath = '/v1/sdk/meter-events'

/** `POST /v1/sdk/meter-events`: records one event of a named meter. */
export function meterEventsRoute(parts: RecordingParts): HotRoute {
  const { keys, nowMs, unknownNames } = parts
  const path = meterEventsPath
  return hotRoute<MeterEventInput>({
    path,
    keys,
    nowMs,
    unknownNames,
    accept: acceptMeterEvent,
    schema: meterEventSchema,
    withHeaderKey: keyedByHeader,
    handle: (call) =>
      withReceipt(parts, call, customersOfOne, (receipt) => {
        const built = meterEvent(call.input, receipt)
        if (!isEvent(built)) return validationAnswer({ path, nowMs }, [built])
        if (isBuiltInMeter(built.meterName)) return record(parts, call.holder, built)
        return recordIfMeterIsActive(parts, call.holder, built)
      }),
  })
}

async function recordIfMeterIsActive(
  parts: RecordingParts,
  holder: KeyHolder,
  event: MeterEvent,
): Promise<Answer> {
  const [status] = await parts.meters.statusOf(holder, [event.meterName])
  const fault = faultOfMeter(event.meterName, status!, [])
  if (fault === undefined) return record(parts, holder, event)
  return validationAnswer({ path: meterEventsPath, nowMs: parts.nowMs }, [fault])
}

/** A wallet may pay for the event, but the response does not report it. */
function record(parts: RecordingParts, holder: KeyHolder, event: MeterEvent): Promise<Answer> {
  return recordUsage(parts, holder, event).then(() => success)
}

const success: Answer = { status: 200, body: '{"success":true}' }
