import type { Queryable } from '@tollgate/platform/database/database'
import type { BillingCycle } from '@tollgate/schemas/http/plan-terms'
import { divideRounded } from '../money/decimal.ts'
import { customCycleDays } from '../periods/periods.ts'
import { pricesAt } from '../purchases/offered-plan.ts'
import { listPurchases, type Purchase } from '../purchases/repository.ts'

/** Purchases with the same currency and cycle, and the sum of their prices for one period. */
export type RecurringGroup = {
  readonly currency: string
  readonly billingCycle: BillingCycle
  /** Days of a custom cycle. */
  readonly days: number | null
  readonly purchases: number
  readonly priceMinor: bigint
}

export type RecurringRevenue = {
  readonly currency: string
  /** Minor units for one month. */
  readonly monthlyMinor: bigint
  readonly purchases: number
}

/** Weeks and days become months by the length of a year. */
const monthsPerYear = 12n
const daysPerYear = 365n

/** Returns how many periods a year has, as a fraction. */
function periodsPerYear({ billingCycle, days }: RecurringGroup): [bigint, bigint] {
  switch (billingCycle) {
    case 'weekly':
      return [daysPerYear, 7n]
    case 'monthly':
      return [monthsPerYear, 1n]
    case 'quarterly':
      return [4n, 1n]
    case 'yearly':
      return [1n, 1n]
    case 'custom':
      return [daysPerYear, BigInt(days ?? customCycleDays)]
  }
}

/** Returns the monthly recurring revenue by currency. Each currency is rounded once, half away from zero. */
export function monthlyRevenue(groups: readonly RecurringGroup[]): RecurringRevenue[] {
  const sums = new Map<string, { numerator: bigint; denominator: bigint; purchases: number }>()
  for (const group of groups) {
    const [periods, years] = periodsPerYear(group)
    const before = sums.get(group.currency) ?? { numerator: 0n, denominator: 1n, purchases: 0 }
    const denominator = years * monthsPerYear
    sums.set(group.currency, {
      numerator: before.numerator * denominator + group.priceMinor * periods * before.denominator,
      denominator: before.denominator * denominator,
      purchases: before.purchases + group.purchases,
    })
  }
  return [...sums]
    .map(([currency, { numerator, denominator, purchases }]) => ({
      currency,
      monthlyMinor: divideRounded(numerator, denominator),
      purchases,
    }))
    .sort((one, other) => (one.currency < other.currency ? -1 : 1))
}

/**
 * Returns the purchases that are expected to be charged again: active or past due, renewing, and with a price. Trials, paused and
 * cancelled purchases are absent. Prices are those of the plan as it was sold, with add-ons, before discounts and tax. Ramps and prices
 * that are agreed with a customer depend on the period, so these purchases are loaded and priced one by one, and at most `pricedMax` of
 * them: the others keep the price of their plan.
 */
export async function listRecurring(
  sql: Queryable,
  providerId: string,
  now: Date,
  pricedMax: number,
): Promise<{ readonly groups: RecurringGroup[]; readonly isComplete: boolean }> {
  const rows = await sql<
    {
      currency: string
      billing_cycle: BillingCycle
      period_days: number | null
      purchases: number
      price: string
    }[]
  >`
    select currency, billing_cycle, period_days, count(*)::int as purchases, sum(period_price)::text as price
    from purchases
    where provider_id = ${providerId} and ${isRenewing(sql)} and billing_cycle is not null and period_price > 0
    group by currency, billing_cycle, period_days`
  const listed = rows.map(({ currency, billing_cycle: billingCycle, ...row }) => ({
    currency,
    billingCycle,
    days: row.period_days,
    purchases: row.purchases,
    priceMinor: BigInt(row.price),
  }))
  const references = await listPricedByPeriod(sql, providerId, pricedMax + 1)
  const priced = references.slice(0, pricedMax)
  const found =
    priced.length === 0
      ? []
      : await listPurchases(sql, providerId, {
          references: priced.map(({ reference }) => reference),
          rowsMax: priced.length,
        })
  const list = new Map(priced.map(({ reference, listMinor }) => [reference, listMinor]))
  return {
    groups: [
      ...listed,
      ...found.flatMap((purchase) =>
        differenceOf(purchase, list.get(purchase.reference) ?? 0n, now),
      ),
    ],
    isComplete: references.length <= pricedMax,
  }
}

/** Condition for purchases that renew. The indexes of migration 0043 have the same one. */
function isRenewing(sql: Queryable) {
  return sql`
    status in ('active', 'past_due') and auto_renew and is_recurring and not is_pack`
}

/** Returns the difference between the price of the purchase's period and that of its plan, which its group already contains. */
function differenceOf(purchase: Purchase, listMinor: bigint, now: Date): RecurringGroup[] {
  const { currency, billingCycle, planSnapshot } = purchase
  if (billingCycle === null) return []
  const priceMinor = pricesAt(purchase, now)?.priceMinor ?? 0n
  return [
    {
      currency,
      billingCycle: billingCycle as BillingCycle,
      days: planSnapshot?.terms.billingCycleDays ?? null,
      purchases: Number(priceMinor > 0n) - Number(listMinor > 0n),
      priceMinor: priceMinor - listMinor,
    },
  ]
}

/** Returns recurring purchases whose price depends on the period, with the price of their plan. */
async function listPricedByPeriod(
  sql: Queryable,
  providerId: string,
  rowsMax: number,
): Promise<{ readonly reference: string; readonly listMinor: bigint }[]> {
  const rows = await sql<{ reference: string; price: bigint | null }[]>`
    select reference, period_price as price from purchases
    where provider_id = ${providerId} and ${isRenewing(sql)} and has_ramp
    union
    select reference, period_price from purchases
    join customer_overrides terms using (provider_id, customer_ref, product_ref)
    where provider_id = ${providerId} and ${isRenewing(sql)}
      and jsonb_path_exists(terms.history, '$[*].prices[*]')
    order by reference limit ${rowsMax}`
  return rows.map(({ reference, price }) => ({ reference, listMinor: BigInt(price ?? 0) }))
}
