import { acceptUsage } from '@tollgate/schemas/http/accept-usage'
import { usageSchema, type CreditDebit, type UsageInput } from '@tollgate/schemas/http/usages'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { isEvent } from '../../domain/bulk-events.ts'
import type { KeyHolder } from '../../domain/key-holder.ts'
import { recordUsage } from '../../recording/record-usage.ts'
import { beginRecharges } from '../../recording/begin-recharges.ts'
import { usageEvent } from '../../domain/usage-events.ts'
import { keyedByHeader } from '../header-key.ts'
import { hotRoute, validationAnswer } from '../hot-route.ts'
import type { Answer, HotRoute } from '../http-front.ts'
import { withReceipt, type RecordingParts } from './recording-parts.ts'
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
      withReceipt(parts, call, (receipt) => {
        const built = usageEvent(call.input, receipt)
        if (!isEvent(built)) return validationAnswer({ path, nowMs }, [built])
        return record(parts, call.holder, call.authorization, built)
      }),
  })
}

/** Keeps nothing else of the event until the log has it, as `usagesBulkRoute`. */
function record(
  parts: RecordingParts,
  holder: KeyHolder,
  authorization: string,
  event: MeterEvent,
): Promise<Answer> {
  const { id } = event
  return recordUsage(parts, holder, event).then((recorded) => {
    if (recorded.low === undefined) return success(id, recorded.debit)
    return beginRecharges(parts.recharges, authorization, [recorded]).then(([result]) =>
      success(id, result!.debit),
    )
  })
}

function success(reference: string, debit: CreditDebit | undefined): Answer {
  return { status: 200, body: `{"success":true,${resultFields(reference, debit)}}` }
}
