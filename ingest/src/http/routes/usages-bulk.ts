import { acceptUsagesBulk } from '@tollgate/schemas/http/accept-usage'
import { bulkItems } from '@tollgate/schemas/http/bulk'
import { usagesBulkSchema, type UsagesBulkInput } from '@tollgate/schemas/http/usages'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { bulkEvents } from '../../domain/bulk-events.ts'
import type { KeyHolder } from '../../domain/key-holder.ts'
import { usageEvent } from '../../domain/usage-events.ts'
import { allKeyedByHeader } from '../header-key.ts'
import { hotRoute, validationAnswer } from '../hot-route.ts'
import type { Answer, HotRoute } from '../http-front.ts'
import { receiptOfBulk, recordBulk } from './backfill.ts'
import { recordAndAnswerAll } from './record-and-answer.ts'
import { customersOfBulk, withReceipt, type RecordingParts } from './recording-parts.ts'
import { resultFields } from './usage-result.ts'

export const usagesBulkPath = '/v1/sdk/usages/bulk'

/** `POST /v1/sdk/usages/bulk`: records up to 1000 usage calls, all or none. */
export function usagesBulkRoute(parts: RecordingParts): HotRoute {
  const { keys, nowMs, unknownNames } = parts
  const path = usagesBulkPath
  return hotRoute<UsagesBulkInput>({
    path,
    keys,
    nowMs,
    unknownNames,
    accept: acceptUsagesBulk,
    schema: usagesBulkSchema,
    withHeaderKey: allKeyedByHeader,
    handle: (call) =>
      withReceipt(parts, call, customersOfBulk, (receipt) => {
        const { input } = call
        const listName = input.events === undefined ? 'records' : 'events'
        const own = receiptOfBulk(receipt, input)
        const bulk = bulkEvents(bulkItems(input), [listName], (item) => usageEvent(item, own))
        if (bulk.kind === 'refused') return validationAnswer({ path, nowMs }, bulk.issues)
        const { events } = bulk
        return recordBulk(parts, call, events, () =>
          record(parts, call.holder, call.authorization, events),
        )
      }),
  })
}

function record(
  parts: RecordingParts,
  holder: KeyHolder,
  authorization: string,
  events: readonly MeterEvent[],
): Promise<Answer> {
  const references = events.map(({ id }) => id)
  return recordAndAnswerAll(parts, holder, authorization, events, ({ debit }, at) =>
    resultFields(references[at]!, debit),
  )
}
