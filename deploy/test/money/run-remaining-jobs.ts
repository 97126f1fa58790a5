import { deliverWebhooks } from './play-story.ts'
import type { StoryContext } from './story-context.ts'
import { jobs } from './story.ts'
import { usageGraceMs } from './crashing-service.ts'
import { environment } from './environment.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** Lengths of the rounds in milliseconds. Unfinished payments are read hourly in the end, and expire after 1 day. */
const rounds: readonly number[] = [
  ...Array.from({ length: 6 }, () => 6 * minuteMs),
  ...Array.from({ length: 8 }, () => hourMs),
  // A declined charge is retried after 5 hours, 1 day and 3 days.
  ...Array.from({ length: 30 }, () => 6 * hourMs),
]

/** Minimum rounds, so that the processor's event list is read again after a process died while reading it. */
const roundsMin = 3

/** Runs all jobs without further faults until no work is left. */
export async function runRemainingJobs(context: StoryContext): Promise<void> {
  const { world } = context
  await world.completeCalls()
  await fetch(`${world.simulator.simulator.url}/_simulator/faults`, { method: 'DELETE' })
  for (const [round, ms] of rounds.entries()) {
    await world.sendPendingCalls()
    await deliverWebhooks(context, [], 1)
    // A commit in progress at the crash of its process may complete after the start of the next process.
    await world.actUntilDone((service) => service.publishPending())
    for (const job of jobs) {
      // The next process repeats the round of a process that died.
      await world.actUntilDone<unknown>((service) => service[job]())
    }
    if (round >= roundsMin && (await hasNoWorkLeft(context))) return
    await world.advanceClock(ms)
  }
  throw new Error(
    `it does not settle: ${JSON.stringify(await findRemainingWork(context), null, 1)}`,
  )
}

async function hasNoWorkLeft(context: StoryContext): Promise<boolean> {
  const left = await findRemainingWork(context)
  return Object.values(left).every((rows) => rows.length === 0)
}

async function findRemainingWork({
  world,
  shop,
}: StoryContext): Promise<Record<string, readonly object[]>> {
  const { providerId } = shop
  const sql = world.stores.postgres.database.in(environment)
  const billableAt = new Date(world.now.getTime() - usageGraceMs)
  return {
    intents: await sql`
      select reference, purpose, status, refund_wanted, cancel_wanted, next_look_at
      from payment_intents where provider_id = ${providerId} and next_look_at is not null
        -- The payment waits for another card, like its invoice.
        and not (purpose = 'usage_billing' and status = 'requires_payment_method')
        -- A disputed payment cannot be refunded until the bank has decided.
        and not (refund_wanted and exists (
          select from payment_disputes
          where intent_ref = reference and payment_disputes.status not in ('won', 'lost')))`,
    attempts: await sql`
      select intent_ref, operation, number, outcome, sends, message from payment_attempts
      where provider_id = ${providerId} and outcome in ('sent', 'unknown')`,
    refunds: await sql`
      select reference, sends, message, due_at from requested_refunds
      where provider_id = ${providerId} and status = 'open'`,
    inbox: await sql`
      select event_id, type, object_id, tries, last_error, due_at from processor_events
      where settled_at is null`,
    purchases: await sql`
      select reference, status, next_billing_date, next_retry_at from purchases
      where provider_id = ${providerId} and (
        (next_billing_date <= ${world.now} and status = 'active') or next_retry_at is not null)`,
    usage: await sql`
      select reference, status, next_usage_bill_at, usage_closes_at from purchases
      where provider_id = ${providerId} and status <> 'refunded' and (
        least(next_usage_bill_at, ended_at) <= ${billableAt} and next_usage_bill_at is not null
        or usage_closes_at <= ${world.now})`,
    invoices: await sql`
      select reference, status, failed_charges, next_charge_at from invoices
      where provider_id = ${providerId} and next_charge_at is not null`,
    takeBacks: await sql`
      select reference, cause, is_undone from credit_take_backs
      where provider_id = ${providerId} and due_at is not null`,
    removals: await sql`
      select customer_ref, removal_tries, removal_error from processor_customers as gone
      where provider_id = ${providerId} and removal_due_at <= ${world.now}
        and not exists (
          select from payment_intents
          where payment_intents.customer_ref = gone.customer_ref and refund_wanted)`,
    corrections: await sql`
      select reference, status, records_corrected from usage_corrections
      where provider_id = ${providerId} and status <> 'applied'`,
    migrations: await sql`
      select reference, status, processed_to from plan_migrations
      where provider_id = ${providerId} and status in ('running', 'cancelling')`,
    recharges: await sql`
      select customer_ref, status, in_flight_payment_intent_id, failure_count from auto_recharges
      where provider_id = ${providerId} and in_flight_payment_intent_id is not null`,
  }
}
