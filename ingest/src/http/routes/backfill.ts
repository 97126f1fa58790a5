import { oneOfEachSecond } from '@tollgate/domain/invoices/corrected-periods'
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

/** Returns the receipt of a bulk request. The receipt of a backfill accepts older timestamps. */
export function receiptOfBulk<Item>(receipt: Receipt, { backfill }: BulkBody<Item>): Receipt {
  return backfill === true ? { ...receipt, isBackfill: true } : receipt
}

/** Calls `record`, which records the events of a bulk request. A backfill is announced before. */
export function recordBulk<Item>(
  parts: Pick<RecordingParts, 'callControlPlane'>,
  call: Pick<HotCall<BulkBody<Item>>, 'authorization' | 'requestId' | 'input'>,
  events: readonly MeterEvent[],
  record: () => Promise<Answer>,
): Promise<Answer> {
  if (call.input.backfill !== true) return record()
  return afterNotingBackfill(parts, call, events, record)
}

/**
 * Announces a backfill to the control plane, which checks that the key may change data, and notes the billed periods for their next
 * bills. Then it records the events. After a crash in between, bills look at the periods and find nothing new. Events that would
 * reach the log too late after the announcement are refused, because a bill may have looked at their periods by then.
 */
async function afterNotingBackfill(
  { callControlPlane }: Pick<RecordingParts, 'callControlPlane'>,
  { authorization, requestId }: Pick<HotCall<unknown>, 'authorization' | 'requestId'>,
  events: readonly MeterEvent[],
  record: () => Promise<Answer>,
): Promise<Answer> {
  const startedMs = performance.now()
  const usages = oneOfEachSecond(
    events.map(({ customerRef, productRef, timestamp }) => {
      return { customerRef, productRef: productRef ?? '', timestamp }
    }),
  )
  const body = JSON.stringify({ usages } satisfies BackfillInput)
  const answer = await callControlPlane(backfillsPath, authorization, body, requestId)
  if (answer.status !== 200) return answer
  if (performance.now() - startedMs > backfillAppendMsMax) {
    throw new UnavailableError('The backfill took too long, try again')
  }
  return record()
}
