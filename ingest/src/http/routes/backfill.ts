import type { BulkBody } from '@tollgate/schemas/http/bulk'
import {
  backfillAppendMsMax,
  backfillsPath,
  type BackfillInput,
} from '@tollgate/schemas/http/usage-corrections'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { UnavailableError } from '../../domain/unavailable-error.ts'
import type { Receipt } from '../../domain/usage-events.ts'
import type { HotCall } from '../hot-route.ts'
import type { Answer } from '../http-front.ts'
import type { RecordingParts } from './recording-parts.ts'

/** Returns the receipt of a bulk request, which says whether its events may be older than others. */
export function receiptOfBulk<Item>(receipt: Receipt, { backfill }: BulkBody<Item>): Receipt {
  return backfill === true ? { ...receipt, isBackfill: true } : receipt
}

/**
 * Announces a backfill to the control plane, which checks that the key may change things, and has the billed periods looked at again.
 * Then it records the events. After a crash in between, bills look at the periods and find nothing new. Events that would reach the
 * log too late after the announcement are refused, because a bill may have looked by then.
 */
export async function afterNotingBackfill(
  { callControlPlane }: Pick<RecordingParts, 'callControlPlane'>,
  { authorization, requestId }: Pick<HotCall<unknown>, 'authorization' | 'requestId'>,
  events: readonly MeterEvent[],
  record: () => Promise<Answer>,
): Promise<Answer> {
  const startedMs = performance.now()
  const body = JSON.stringify({ usages: touchedUsage(events) } satisfies BackfillInput)
  const answer = await callControlPlane(backfillsPath, authorization, body, requestId)
  if (answer.status !== 200) return answer
  if (performance.now() - startedMs > backfillAppendMsMax) {
    throw new UnavailableError('The backfill took too long, try again')
  }
  return record()
}

/** Returns the times of the events, one for each second of a customer and product: periods begin at whole seconds. */
function touchedUsage(events: readonly MeterEvent[]): BackfillInput['usages'] {
  const touched = new Map<string, BackfillInput['usages'][number]>()
  for (const { customerRef, productRef, timestamp } of events) {
    const key = JSON.stringify([customerRef, productRef, Math.floor(timestamp / 1_000)])
    touched.set(key, { customerRef, productRef: productRef ?? '', timestamp })
  }
  return [...touched.values()]
}
