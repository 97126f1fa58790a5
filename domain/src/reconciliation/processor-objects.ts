import {
  PaymentProcessorUnavailableError,
  type PaymentProcessor,
} from '@tollgate/platform/payments/payment-processor'
import { applyProcessorObject, type PaymentJobParts } from '../settlement/process-inbox.ts'
import type { SharedKind } from './own-rows.ts'
import type { Scope } from './scope.ts'

/** Number of the processor's objects that are compared together. */
const itemsPerBatch = 100

/**
 * Returns the ids of objects that changed at the processor within the grace time, so that their webhooks may still be on their way.
 */
export async function idsChangedRecently(
  processor: PaymentProcessor,
  now: Date,
  graceMs: number,
): Promise<ReadonlySet<string>> {
  const ids = new Set<string>()
  if (graceMs === 0) return ids
  const createdFrom = new Date(now.getTime() - graceMs)
  for await (const { objectId } of processor.listEvents({ createdFrom })) ids.add(objectId)
  return ids
}

/** Applies the processor's current state of an object. If that fails, the difference is reported as it is. */
export async function reapplyObject(
  parts: PaymentJobParts,
  { environment }: Scope,
  objectKind: SharedKind,
  objectId: string,
): Promise<void> {
  try {
    await applyProcessorObject(parts, environment, { objectKind, objectId })
  } catch (error) {
    if (error instanceof PaymentProcessorUnavailableError) throw error
    parts.logger.error(
      { err: error, objectId },
      'could not apply the state of an object of the payment processor',
    )
  }
}

export async function* inBatches<Item>(items: AsyncIterable<Item>): AsyncIterable<readonly Item[]> {
  let batch: Item[] = []
  for await (const item of items) {
    batch.push(item)
    if (batch.length < itemsPerBatch) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
