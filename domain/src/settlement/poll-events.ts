import type { ProcessorEvent } from '@tollgate/platform/payments/payment-processor'
import type { Environment } from '@tollgate/schemas/environment'
import { claimEventPoll, saveReadUntil, receiveEvents } from '../payments/inbox-repository.ts'
import { processorOf } from '../payments/payment-parts.ts'
import type { PaymentJobParts } from './process-inbox.ts'

/** Events that appear in the list up to 10 minutes late are still found. */
const overlapMs = 600_000

const eventsAtOnce = 100

/**
 * Copies the processor's event list into the inbox. Refunds, disputes, payouts and setups whose webhook was lost are then applied
 * like any other. All processes together read once per interval. Events that a crash leaves unread are read by the next poll.
 */
export async function pollEvents(
  parts: PaymentJobParts,
  environment: Environment,
  intervalMs: number,
): Promise<void> {
  const pool = parts.everyone.in(environment)
  const readUntil = await claimEventPoll(pool, parts.now(), intervalMs)
  if (readUntil === undefined) return
  const createdFrom = new Date(readUntil.getTime() - overlapMs)
  let newest = readUntil
  let batch: ProcessorEvent[] = []
  for await (const event of processorOf(parts, environment).listEvents({ createdFrom })) {
    if (event.createdAt > newest) newest = event.createdAt
    batch.push(event)
    if (batch.length < eventsAtOnce) continue
    await receiveEvents(pool, batch, parts.now())
    batch = []
  }
  await receiveEvents(pool, batch, parts.now())
  // Stored after all events are in the inbox, so a crash before repeats the poll.
  await saveReadUntil(pool, newest)
}
