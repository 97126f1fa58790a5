import { randomUUID } from 'node:crypto'
import { insertReports } from '@tollgate/domain/reconciliation/reports-repository'
import { generateReference } from '@tollgate/domain/unit-of-work/generate-reference'
import type { TestStack } from './test-stack.ts'

/* Objects that a test stores itself, because no request makes them. `key` names the environment. */

/** Stores a payment intent that the processor has refused, so that the service sends no request to the processor. */
export async function storePaymentIntent(
  stack: TestStack,
  key: string,
  customerRef: string,
): Promise<string> {
  const environment = key.startsWith('sk_live_') ? 'live' : 'sandbox'
  const sql = stack.database.in(environment)
  const reference = generateReference('transaction')
  await sql`
    insert into payment_intents
      (provider_id, reference, purpose, customer_ref, cycle_mode, keeps_card, status, amount,
       original_amount, currency, exchange_rate, processor_customer_id, failure_reason,
       idempotency_key, input_sha256, expires_at, created_at, updated_at)
    select provider_id, ${reference}, 'credit_topup', reference, 'calendar', false, 'failed', 100,
      100, 'USD', 1, 'cus_processor', 'amount_too_small', ${reference}, '', now(), now(), now()
    from customers where reference = ${customerRef}`
  return reference
}

export async function storeEmail(
  stack: TestStack,
  key: string,
  customerRef: string,
): Promise<string> {
  const sql = stack.database.in(key.startsWith('sk_live_') ? 'live' : 'sandbox')
  const reference = `eml_${randomUUID()}`
  await sql`
    insert into emails
      (provider_id, reference, event_id, kind, customer_ref, state, due_at, finished_at, created_at)
    select provider_id, ${reference}, 'evt_1', 'receipt', reference, 'failed', now(), now(), now()
    from customers where reference = ${customerRef}`
  return reference
}

export async function storeReconciliation(
  stack: TestStack,
  key: string,
  customerRef: string,
): Promise<string> {
  const pool = stack.database.in(key.startsWith('sk_live_') ? 'live' : 'sandbox')
  const [row] = await pool<{ provider_id: string }[]>`
    select provider_id from customers where reference = ${customerRef}`
  const reference = generateReference('reconciliation')
  const at = new Date()
  const times = { startedAt: at, finishedAt: at, comparedFrom: at, comparedTo: at }
  const counts = { compared: {}, gaps: [], findings: [], found: 0, repaired: 0 }
  await insertReports(pool, [{ providerId: row!.provider_id, reference, ...times, ...counts }])
  return reference
}
