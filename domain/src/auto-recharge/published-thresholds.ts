import type { Queryable } from '@tollgate/platform/database/database'
import { microsPerUnit } from '@tollgate/schemas/quantity'
import { selectKeys, type CustomerKey } from '../customers/repository.ts'
import { exchangeRateOf, toFraction } from '../money/exchange-rates.ts'
import { leastCredits } from './decide-recharge.ts'

/**
 * Returns, for each customer with an active recharge, the balance below which the wallet may need a top-up, in 10^-6
 * credits. It is based on the exchange rate at the time of this call. The process that charges decides with the rate at
 * its own time.
 */
export async function listPublishedThresholds(
  sql: Queryable,
  customers: readonly CustomerKey[],
): Promise<Map<string, bigint>> {
  const rows = await sql<
    { customer_ref: string; minor: bigint; currency: string; units_per_dollar: string | null }[]
  >`
    select customer_ref, threshold_minor as minor, threshold_currency as currency,
      trim_scale(units_per_dollar)::text as units_per_dollar
    from auto_recharges
    left join exchange_rates
      on exchange_rates.provider_id = auto_recharges.provider_id and currency = threshold_currency
    where (auto_recharges.provider_id, customer_ref) in (${selectKeys(sql, customers)})
      and status = 'active'`
  const thresholds = new Map<string, bigint>()
  for (const { customer_ref: customerRef, minor, currency, units_per_dollar: own } of rows) {
    const rate = exchangeRateOf(currency, own)
    if (rate === undefined) continue
    const credits = leastCredits(minor, currency, toFraction(rate))
    thresholds.set(customerRef, credits * BigInt(microsPerUnit))
  }
  return thresholds
}
