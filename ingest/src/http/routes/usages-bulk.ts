import { acceptUsagesBulk } from '@tollgate/schemas/http/accept-usage'
import { bulkItems } from '@tollgate/schemas/http/bulk'
import {
  usagesBulkSchema,
  type CreditDebit,
  type UsagesBulkInput,
  type UsagesBulkResponse,
} from '@tollgate/schemas/http/usages'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { bulkEvents } from '../../domain/bulk-events.ts'
import { decideAll, duplicateDebit } from '../../domain/debit-decider.ts'
import type { RecordOutcome } from '../../domain/event-recorder.ts'
import type { KeyHolder } from '../../domain/key-holder.ts'
import { usageEvent } from '../../domain/usage-events.ts'
import { jsonAnswer } from '../answers.ts'
import { hotRoute, validationAnswer } from '../hot-route.ts'
import type { Answer, HotRoute } from '../http-front.ts'
import { receiptOf, type RecordingParts } from './recording-parts.ts'

export const usagesBulkPath = '/v1/sdk/usages/bulk'

/** `POST /v1/sdk/usages/bulk`: up to 1000 usage calls, all recorded or none. */
export function usagesBulkRoute(parts: RecordingParts): HotRoute {
  const { keys, nowMs } = parts
  const path = usagesBulkPath
  return hotRoute<UsagesBulkInput>({
    path,
    keys,
    nowMs,
    accept: acceptUsagesBulk,
    schema: usagesBulkSchema,
    handle: ({ holder, input }) => {
      const receipt = receiptOf(parts, holder)
      const listName = input.events === undefined ? 'records' : 'events'
      const bulk = bulkEvents(bulkItems(input), listName, (item, itemPath) =>
        usageEvent(item, receipt, itemPath),
      )
      if (bulk.kind === 'refused') return validationAnswer({ path, nowMs }, bulk.issues)
      return record(parts, holder, bulk.events)
    },
  })
}

async function record(
  parts: RecordingParts,
  holder: KeyHolder,
  events: readonly MeterEvent[],
): Promise<Answer> {
  const places = events.map((event) => parts.place(holder.environment, event))
  const [outcomes, debits] = await Promise.all([
    parts.recorder.recordAll(holder.environment, places),
    decideAll(parts.debits, holder, places),
  ])
  const body: UsagesBulkResponse = {
    success: true,
    inserted: outcomes.filter((outcome) => outcome === 'recorded').length,
    results: events.map((event, index) => result(event, outcomes[index]!, debits[index])),
  }
  return jsonAnswer(200, body)
}

function result(
  event: MeterEvent,
  outcome: RecordOutcome,
  debit: CreditDebit | undefined,
): UsagesBulkResponse['results'][number] {
  const creditDebit = outcome === 'duplicate' ? duplicateDebit : debit
  return creditDebit === undefined ? { reference: event.id } : { reference: event.id, creditDebit }
}
