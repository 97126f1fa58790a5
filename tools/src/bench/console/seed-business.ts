import type { Database } from '@tollgate/platform/database/database'

export type SeededBusiness = {
  readonly providerId: string
  readonly customers: number
  readonly nowMs: number
}

/**
 * Inserts customers with a monthly purchase and a payment each, without the objects that they would refer to: a hundred thousand
 * purchases over the API would take many minutes. The database has one connection per pool, and its login is a superuser.
 */
export async function seedBusiness(
  database: Database,
  { providerId, customers, nowMs }: SeededBusiness,
): Promise<void> {
  const sql = database.in('sandbox')
  const now = new Date(nowMs)
  const plan = {
    ...{ reference: 'pln_bench', name: 'Pro', type: 'recurring', currency: 'USD' },
    ...{ priceMinor: 2_900, basePriceMinor: null, terms: { billingCycle: 'monthly' } },
  }
  await sql`set session_replication_role = replica`
  await sql`
      insert into customers (provider_id, reference, email, status, created_at, updated_at)
      select ${providerId}, 'cus_bench_' || n, n || '@bench.example', 'active', ${now}, ${now}
      from generate_series(0, ${customers - 1}::int) n`
  await sql`
      insert into purchases (provider_id, reference, customer_ref, product_ref, plan_ref, plan_snapshot, status, origin,
        amount, currency, anchor, cycle_mode, billing_cycle, is_recurring, auto_renew, start_date, created_at, updated_at)
      select ${providerId}, 'pur_bench_' || n, 'cus_bench_' || n, 'prd_bench_' || n % 5, 'pln_bench', ${sql.json(plan)},
        case n % 20 when 0 then 'past_due' when 1 then 'cancelled' else 'active' end, 'paid', 2900, 'USD', ${now},
        'calendar', 'monthly', true, true, ${now}, ${now}, ${now}
      from generate_series(0, ${customers - 1}::int) n`
  await sql`
      insert into payment_intents (provider_id, reference, purpose, customer_ref, cycle_mode, keeps_card, status, amount,
        original_amount, currency, exchange_rate, processor_customer_id, idempotency_key, input_sha256, expires_at,
        created_at, updated_at, succeeded_at)
      select ${providerId}, 'pi_bench_' || n, 'product', 'cus_bench_' || n, 'calendar', false, 'succeeded', 2900, 2900,
        case n % 3 when 0 then 'EUR' else 'USD' end, 1, 'cus', 'pi_bench_' || n, '', ${now}, ${now}, ${now},
        ${now}::timestamptz - n * interval '25 seconds'
      from generate_series(0, ${customers - 1}::int) n`
  await sql`
      insert into payment_refunds (provider_id, processor_refund_id, intent_ref, amount, currency, status, created_at, updated_at)
      select ${providerId}, 're_bench_' || n, 'pi_bench_' || n, 2900, 'USD', 'succeeded',
        ${now}::timestamptz - n * interval '25 seconds', ${now}
      from generate_series(0, ${customers - 1}::int, 100) n`
  await sql`vacuum analyze`
}
