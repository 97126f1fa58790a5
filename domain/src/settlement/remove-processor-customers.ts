import type { Queryable } from '@tollgate/platform/database/database'
import type { Environment } from '@tollgate/schemas/environment'
import { processorOf } from '../payments/payment-parts.ts'
import type { PaymentJobParts } from './work-off-inbox.ts'

const customersPerRoundMax = 20

/** After that a dead process's customers are somebody else's. */
const claimedMs = 120_000

const hourMs = 3_600_000

type Removal = {
  readonly providerId: string
  readonly customerRef: string
  readonly id: string
  readonly tries: number
}

/**
 * Has the processor forget customers who were deleted here, with their cards, once nothing of theirs is to be paid or paid
 * back any more. To ask twice changes nothing, so a crash after the call only asks again. Whether there may be more.
 */
export async function removeProcessorCustomers(
  parts: PaymentJobParts,
  environment: Environment,
): Promise<boolean> {
  const pool = parts.everyone.in(environment)
  const now = parts.now()
  const due = await claimRemovals(pool, now, new Date(now.getTime() + claimedMs))
  for (const removal of due) {
    const { providerId, customerRef, id, tries } = removal
    const done = await processorOf(parts, environment).deleteCustomer(id)
    if (done.outcome === 'done') {
      await pool`
        delete from processor_customers
        where provider_id = ${providerId} and customer_ref = ${customerRef}`
      continue
    }
    const error = `${done.reason}: ${done.message}`
    parts.logger.warn({ customerRef, environment, error }, 'a deleted customer is still there')
    const pauseMs = Math.min(1_000 * 2 ** Math.min(tries, 12), hourMs)
    await pool`
      update processor_customers
      set removal_error = ${error}, removal_due_at = ${new Date(parts.now().getTime() + pauseMs)}
      where provider_id = ${providerId} and customer_ref = ${customerRef}`
  }
  return due.length === customersPerRoundMax
}

async function claimRemovals(sql: Queryable, now: Date, againAt: Date): Promise<Removal[]> {
  const rows = await sql<
    {
      provider_id: string
      customer_ref: string
      processor_customer_id: string
      removal_tries: number
    }[]
  >`
    update processor_customers set removal_due_at = ${againAt}, removal_tries = removal_tries + 1
    where (provider_id, customer_ref) in (
      select provider_id, customer_ref from processor_customers as kept
      where removal_due_at <= ${now} and not exists (
        select from payment_intents
        where payment_intents.provider_id = kept.provider_id
          and payment_intents.customer_ref = kept.customer_ref
          and (refund_wanted or status not in ('succeeded', 'canceled', 'failed')))
      order by removal_due_at limit ${customersPerRoundMax} for update skip locked)
    returning provider_id, customer_ref, processor_customer_id, removal_tries`
  return rows.map((row) => ({
    providerId: row.provider_id,
    customerRef: row.customer_ref,
    id: row.processor_customer_id,
    tries: row.removal_tries,
  }))
}
