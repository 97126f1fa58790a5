import type { Queryable } from '@tollgate/platform/database/database'
import { fractionOf, type Fraction } from './decimal.ts'

/** `parity`: the currency is the dollar. `db`: the provider has set the rate. `fallback`: the rate is built in. */
export type RateSource = 'parity' | 'db' | 'fallback'

export type ExchangeRate = {
  readonly currency: string
  /** Amount that one US dollar buys, as decimal text. */
  readonly unitsPerDollar: string
  readonly source: RateSource
}

export const dollarRate: ExchangeRate = { currency: 'USD', unitsPerDollar: '1', source: 'parity' }

/** Approximate and fixed rates. A provider who sells in another currency sets rates of its own. */
const builtInRates: Readonly<Record<string, string>> = {
  AUD: '1.52',
  BRL: '5.4',
  CAD: '1.37',
  CHF: '0.88',
  CNY: '7.2',
  CZK: '23',
  DKK: '6.9',
  EUR: '0.92',
  GBP: '0.79',
  HKD: '7.8',
  HUF: '360',
  INR: '84',
  JPY: '150',
  KRW: '1350',
  MXN: '18',
  NOK: '10.7',
  NZD: '1.65',
  PLN: '4',
  SEK: '10.5',
  SGD: '1.34',
  THB: '35',
  TRY: '32',
  ZAR: '18.3',
}

export function toFraction({ unitsPerDollar }: ExchangeRate): Fraction {
  return fractionOf(unitsPerDollar)
}

/** Returns the exchange rate of a currency, undefined if none is known. */
export async function findExchangeRate(
  sql: Queryable,
  providerId: string,
  currency: string,
): Promise<ExchangeRate | undefined> {
  if (currency === dollarRate.currency) return dollarRate
  const [row] = await sql<{ units_per_dollar: string }[]>`
    select trim_scale(units_per_dollar)::text as units_per_dollar from exchange_rates
    where provider_id = ${providerId} and currency = ${currency}`
  return exchangeRateOf(currency, row?.units_per_dollar ?? null)
}

/**
 * Returns the exchange rate of a currency. `own`: the provider's own rate as decimal text, or null. Undefined if no rate is known.
 */
export function exchangeRateOf(currency: string, own: string | null): ExchangeRate | undefined {
  if (currency === dollarRate.currency) return dollarRate
  if (own !== null) return { currency, unitsPerDollar: own, source: 'db' }
  const unitsPerDollar = builtInRates[currency]
  return unitsPerDollar === undefined ? undefined : { currency, unitsPerDollar, source: 'fallback' }
}

/** Returns the provider's own rates, ordered by currency. */
export async function listExchangeRates(
  sql: Queryable,
  providerId: string,
): Promise<ExchangeRate[]> {
  const rows = await sql<{ currency: string; units_per_dollar: string }[]>`
    select currency, trim_scale(units_per_dollar)::text as units_per_dollar from exchange_rates
    where provider_id = ${providerId} order by currency`
  return rows.map((row) => ({
    currency: row.currency,
    unitsPerDollar: row.units_per_dollar,
    source: 'db',
  }))
}

export async function setExchangeRate(
  sql: Queryable,
  providerId: string,
  { currency, unitsPerDollar }: Pick<ExchangeRate, 'currency' | 'unitsPerDollar'>,
  now: Date,
): Promise<void> {
  const changed = { units_per_dollar: unitsPerDollar, updated_at: now }
  await sql`
    insert into exchange_rates ${sql({ ...changed, provider_id: providerId, currency })}
    on conflict (provider_id, currency) do update set ${sql(changed)}`
}

export async function removeExchangeRate(
  sql: Queryable,
  providerId: string,
  currency: string,
): Promise<void> {
  await sql`
    delete from exchange_rates where provider_id = ${providerId} and currency = ${currency}`
}
