import { randomBytes, randomUUID } from 'node:crypto'
import { RecordBatchBuilder } from '@tollgate/platform/event-log/kafka/wire/record-batch'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { encodeMeterEvent } from '@tollgate/schemas/meter-event-codec'
import { subjectKey } from '@tollgate/schemas/subject'
import {
  keyedUsageReference,
  randomUsageReference,
  timeOrderedReference,
} from '@tollgate/schemas/usage-reference'

const entropyBytes = 10
const customerCount = 3_000
const eventBytesMax = 4_096
const yearMs = 365 * 86_400_000

/** Builds batches of usage events without metadata, every second one with an idempotency key, of random ones of 3,000 customers. */
export class UsageBatches {
  readonly #providerId = reference('prv_')
  readonly #productRef = reference('prd_')
  readonly #customers = Array.from({ length: customerCount }, () => reference('cus_'))
  readonly #buffer = Buffer.alloc(eventBytesMax)
  #count = 0

  batch(records: number): RecordBatchBuilder {
    const builder = new RecordBatchBuilder()
    for (let index = 0; index < records; index++) {
      const event = this.#event()
      const end = encodeMeterEvent(event, this.#buffer, 0)
      const key = subjectKey(event.providerId, event.customerRef)
      builder.add(key, this.#buffer.subarray(0, end), event.receivedAt)
    }
    return builder
  }

  #event(): MeterEvent {
    const nowMs = Date.now()
    const idempotencyKey = this.#count++ % 2 === 0 ? randomUUID() : null
    const providerId = this.#providerId
    const customerRef = this.#customers[Math.floor(Math.random() * customerCount)]!
    return {
      id:
        idempotencyKey === null
          ? randomUsageReference(nowMs, randomBytes(entropyBytes))
          : keyedUsageReference('live', providerId, customerRef, idempotencyKey),
      providerId,
      customerRef,
      meterName: 'requests',
      value: 1_000_000,
      timestamp: nowMs,
      receivedAt: nowMs,
      productRef: this.#productRef,
      purchaseRef: null,
      outcome: 'success',
      source: 'usages',
      idempotencyKey,
      properties: '{}',
      reservationId: null,
      traceParent: null,
      debit: null,
      eventType: null,
      dimensions: {},
      counts: [],
    }
  }
}

/** Returns a reference of any time of the last year, because references of one moment share their first characters. */
function reference(prefix: string): string {
  const createdMs = Date.now() - Math.floor(Math.random() * yearMs)
  return timeOrderedReference(prefix, createdMs, randomBytes(entropyBytes))
}
