import type { Queryable } from '@tollgate/platform/database/database'
import type { ProcessorEvent } from '@tollgate/platform/payments/payment-processor'
import type { Environment } from '@tollgate/schemas/environment'
import { receiveEvents } from '../payments/inbox-repository.ts'
import { processorOf } from '../payments/payment-parts.ts'
import type { PaymentJobParts } from './work-off-inbox.ts'

/** What shows up in the list that late is still found. */
const overlapMs = 600_000

/** How far back an installation begins that has never read the list. */
const firstReachMs = 86_400_000

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
  await pool`update processor_event_polls set read_until = greatest(read_until, ${newest})`
}

/** Undefined: it is not time, or somebody else reads. */
async function claimPoll(sql: Queryable, now: Date, intervalMs: number): Promise<Date | undefined> {
  const beginning = new Date(now.getTime() - firstReachMs)
  await sql`
    insert into processor_event_polls (read_until, due_at) values (${beginning}, ${now})
    on conflict do nothing`
  const [row] = await sql<{ read_until: Date }[]>`
    update processor_event_polls set due_at = ${new Date(now.getTime() + intervalMs)}
    where due_at <= ${now} returning read_until`
  return row?.read_until
}
