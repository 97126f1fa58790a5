import { acceptMeterEventsBulk } from '@tollgate/schemas/http/accept-meter-event'
import { bulkItems } from '@tollgate/schemas/http/bulk'
import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import {
  meterEventsBulkSchema,
  type MeterEventsBulkInput,
  type MeterEventsBulkResponse,
} from '@tollgate/schemas/http/meter-events'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { bulkEvents } from '../../domain/bulk-events.ts'
import type { KeyHolder } from '../../domain/key-holder.ts'
import { faultOfMeter, isBuiltInMeter, meterEvent } from '../../domain/meter-events.ts'
import { recordAllUsage, type RecordedUsage } from '../../recording/record-usage.ts'
import { jsonAnswer } from '../answers.ts'
import { allKeyedByHeader } from '../header-key.ts'
import { hotRoute, validationAnswer } from '../hot-route.ts'
import type { Answer, HotRoute } from '../http-front.ts'
import { receiptOfBulk, recordBulk } from './backfill.ts'
import { customersOfBulk, withReceipt, type RecordingParts } from './recording-parts.ts'

export const meterEventsBulkPath = '/v1/sdk/meter-events/bulk'

/** `POST /v1/sdk/meter-events/bulk`: records up to 1000 events, all or none. */
export function meterEventsBulkRoute(parts: RecordingParts): HotRoute {
  const { keys, nowMs, unknownNames } = parts
  const path = meterEventsBulkPath
  return hotRoute<MeterEventsBulkInput>({
    path,
    keys,
    nowMs,
    unknownNames,
    accept: acceptMeterEventsBulk,
    schema: meterEventsBulkSchema,
    withHeaderKey: allKeyedByHeader,
    handle: (call) =>
      withReceipt(parts, call, customersOfBulk, (receipt) => {
        const { holder, input } = call
        const listName = input.events === undefined ? 'records' : 'events'
        const own = receiptOfBulk(receipt, input)
        const bulk = bulkEvents(bulkItems(input), [listName], (item) => meterEvent(item, own))
        if (bulk.kind === 'refused') return validationAnswer({ path, nowMs }, bulk.issues)
        const { events } = bulk
        return recordBulk(parts, call, events, () =>
          recordIfMetersAreActive(parts, holder, events, listName),
        )
      }),
  })
}

async function recordIfMetersAreActive(
  parts: RecordingParts,
  holder: KeyHolder,
  events: readonly MeterEvent[],
  listName: string,
): Promise<Answer> {
  const issues = await faultsOfMeters(parts, holder, events, listName)
  if (issues.length > 0) {
    return validationAnswer({ path: meterEventsBulkPath, nowMs: parts.nowMs }, issues)
  }
  // Not awaited, because this function would keep the events until the log has them.
  return recordAllUsage(parts, holder, events).then(answerOf)
}

function answerOf(recorded: readonly RecordedUsage[]): Answer {
  const inserted = recorded.filter(({ outcome }) => outcome === 'recorded').length
  const body: MeterEventsBulkResponse = { success: true, inserted }
  return jsonAnswer(200, body)
}

async function faultsOfMeters(
  parts: RecordingParts,
  holder: KeyHolder,
  events: readonly MeterEvent[],
  listName: string,
): Promise<ValidationIssue[]> {
  const named = new Set(events.map(({ meterName }) => meterName))
  const names = [...named].filter((name) => !isBuiltInMeter(name))
  if (names.length === 0) return []
  const statuses = await parts.meters.statusOf(holder, names)
  const statusByName = new Map(names.map((name, index) => [name, statuses[index]!]))
  return events.flatMap(({ meterName }, index) => {
    if (isBuiltInMeter(meterName)) return []
    const fault = faultOfMeter(meterName, statusByName.get(meterName)!, [listName, index])
    return fault === undefined ? [] : [fault]
  })
}
