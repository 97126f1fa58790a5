import type { Queryable } from '@tollgate/platform/database/database'
import { findExchangeRate } from '../money/exchange-rates.ts'
import type { CreditConversion } from '../pricing/line-inputs.ts'

export async function readCreditConversion(
  { sql, providerId }: { readonly sql: Queryable; readonly providerId: string },
  currency: string,
): Promise<CreditConversion> {
  const rate = await findExchangeRate(sql, providerId, currency)
  if (rate === undefined) throw new Error(`there is no exchange rate for ${currency}`)
  return { currency, unitsPerDollar: rate.unitsPerDollar }
}
