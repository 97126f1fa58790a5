import { acceptUsagesBulk } from '@tollgate/schemas/http/accept-usage'
import { bulkItems } from '@tollgate/schemas/http/bulk'
import { usagesBulkSchema, type UsagesBulkInput } from '@tollgate/schemas/http/usages'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { bulkEvents } from '../../domain/bulk-events.ts'
import { recordAllUsage } from '../../recording/record-usage.ts'
import { beginRecharges } from '../../recording/begin-recharges.ts'
import { usageEvent } from '../../domain/usage-events.ts'
import { allKeyedByHeader } from '../header-key.ts'
import { hotRoute, validationAnswer, type HotCall } from '../hot-route.ts'
import type { Answer, HotRoute } from '../http-front.ts'
import { withReceipt, type RecordingParts } from './recording-parts.ts'
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
      withReceipt(parts, call, (receipt) => {
        const { input } = call
        const listName = input.events === undefined ? 'records' : 'events'
        const bulk = bulkEvents(bulkItems(input), [listName], (item) => usageEvent(item, receipt))
        if (bulk.kind === 'refused') return validationAnswer({ path, nowMs }, bulk.issues)
        return record(parts, call, bulk.events)
      }),
  })
}

async function record(
  parts: RecordingParts,
  { holder, authorization }: HotCall<UsagesBulkInput>,
  events: readonly MeterEvent[],
): Promise<Answer> {
  const recorded = await beginRecharges(
    parts.recharges,
    authorization,
    await recordAllUsage(parts, holder, events),
  )
  const inserted = recorded.filter(({ outcome }) => outcome === 'recorded').length
  const results = recorded.map(({ debit }, index) => `{${resultFields(events[index]!.id, debit)}}`)
  const body = `{"success":true,"inserted":${inserted},"results":[${results.join(',')}]}`
  return { status: 200, body }
}
