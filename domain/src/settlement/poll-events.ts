import type { ProcessorEvent } from '@tollgate/platform/payments/payment-processor'
import type { Environment } from '@tollgate/schemas/environment'
import { claimPoll, noteReadUntil } from '../payments/event-polls-repository.ts'
import { receiveEvents } from '../payments/inbox-repository.ts'
import { processorOf } from '../payments/payment-parts.ts'
import type { PaymentJobParts } from './work-off-inbox.ts'

/** What shows up in the list that late is still found. */
const overlapMs = 600_000

const eventsAtOnce = 100

/**
 * Puts what has happened at the processor into the inbox, from the processor's own list: refunds, disputes, payouts and
 * set-ups whose webhook was lost are looked at like any other. Reads once in so many milliseconds, whoever asks; what a
 * crash leaves unread is read the next time.
 */
export async function pollEvents(
  parts: PaymentJobParts,
  environment: Environment,
  intervalMs: number,
): Promise<void> {
  const pool = parts.everyone.in(environment)
  const readUntil = await claimPoll(pool, parts.now(), intervalMs)
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
  // After all of it is in the inbox.
  await noteReadUntil(pool, newest)
}
