import { acceptUsage } from '@tollgate/schemas/http/accept-usage'
import { usageSchema, type CreditDebit, type UsageInput } from '@tollgate/schemas/http/usages'
import { isEvent } from '../../domain/bulk-events.ts'
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
        return recordUsage(parts, call.holder, built).then((recorded) => {
          if (recorded.low === undefined) return success(built.id, recorded.debit)
          return beginRecharges(parts.recharges, call.authorization, [recorded]).then(([result]) =>
            success(built.id, result!.debit),
          )
        })
      }),
  })
}

function success(reference: string, debit: CreditDebit | undefined): Answer {
  return { status: 200, body: `{"success":true,${resultFields(reference, debit)}}` }
}
