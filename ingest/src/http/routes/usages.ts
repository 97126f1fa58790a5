import { acceptUsage } from '@tollgate/schemas/http/accept-usage'
import { usageSchema, type UsageInput } from '@tollgate/schemas/http/usages'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { isEvent } from '../../domain/bulk-events.ts'
import type { KeyHolder } from '../../domain/key-holder.ts'
import { usageEvent } from '../../domain/usage-events.ts'
import { keyedByHeader } from '../header-key.ts'
import { hotRoute, validationAnswer } from '../hot-route.ts'
import type { Answer, HotRoute } from '../http-front.ts'
import { recordAndAnswer } from './record-and-answer.ts'
import { customersOfOne, withReceipt, type RecordingParts } from './recording-parts.ts'
import { resultFields } from './usage-result.ts'

export const usagesPath = '/v1/sdk/usages'

/** `POST /v1/sdk/usages`: records one usage call. */
export function usagesRoute(parts: RecordingParts): HotRoute {
  const { keys, nowMs, unknownNames } = parts
  const path = usagesPath
  return hotRoute<UsageInput>({
    path,
    keys,
    nowMs,
    unknownNames,
    accept: acceptUsage,
    schema: usageSchema,
    withHeaderKey: keyedByHeader,
    handle: (call) =>
      withReceipt(parts, call, customersOfOne, (receipt) => {
        const built = usageEvent(call.input, receipt)
        if (!isEvent(built)) return validationAnswer({ path, nowMs }, [built])
        return record(parts, call.holder, call.authorization, built)
      }),
  })
}

function record(
  parts: RecordingParts,
  holder: KeyHolder,
  authorization: string,
  event: MeterEvent,
): Promise<Answer> {
  const { id } = event
  return recordAndAnswer(parts, holder, authorization, event, ({ debit }) =>
    resultFields(id, debit),
  )
}
