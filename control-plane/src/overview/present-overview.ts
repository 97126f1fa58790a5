import { decimalOfMicros } from '@tollgate/domain/money/decimal'
import type {
  FailingEndpoint,
  FailingInvoice,
  ReachedLimit,
} from '@tollgate/domain/overview/attention'
import type { MoneyOfDay } from '@tollgate/domain/overview/money-by-day'
import type { RecurringRevenue } from '@tollgate/domain/overview/recurring-revenue'
import type { UsageOverTimeBody } from '@tollgate/schemas/http/console-usage'
import type { OverviewBody } from '@tollgate/schemas/http/overview'
import { definedFields } from '../domain/defined-fields.ts'
import type { TimeRange } from '../domain/usage-buckets.ts'
import { noActivity, type Activity } from '../usage/query-activity.ts'

export type OverviewDay = TimeRange & { readonly date: string }

type Overview = Pick<OverviewBody, 'customers' | 'products' | 'purchases' | 'timeZone'> & {
  readonly days: readonly OverviewDay[]
  readonly money: readonly MoneyOfDay[]
  readonly creditsSold: ReadonlyMap<string, bigint>
  readonly recurring: readonly RecurringRevenue[]
  readonly isExact: boolean
  readonly limits: readonly (ReachedLimit & { readonly email: string | undefined })[]
  readonly isWatched: boolean
  readonly failingInvoices: { readonly total: number; readonly newest: readonly FailingInvoice[] }
  readonly failingEndpoints: readonly FailingEndpoint[]
  /** Undefined if stored usage cannot be read. */
  readonly activity:
    { readonly whole: Activity; readonly days: ReadonlyMap<string, Activity> } | undefined
  readonly usage: UsageOverTimeBody | undefined
  readonly delayMs: number | undefined
}

/** Returns the response. Sums of all days are computed from those of the days, except the number of customers. */
export function presentOverview(overview: Overview): OverviewBody {
  const { customers, products, purchases, timeZone, days } = overview
  const { activity, money, creditsSold, usage, delayMs, recurring } = overview
  const allSold = [...creditsSold.values()].reduce((sum, micros) => sum + micros, 0n)
  return {
    ...{ customers, products, purchases, timeZone },
    ...definedFields({ usage }),
    days: days.map(({ date, startMs, endMs }) => ({
      date,
      start: new Date(startMs).toISOString(),
      end: new Date(endMs).toISOString(),
      ...activityBody(activity && (activity.days.get(date) ?? noActivity)),
      creditsSold: decimalOfMicros(creditsSold.get(date) ?? 0n),
      revenue: revenueBody(money.filter(({ day }) => day === date)),
    })),
    total: {
      ...activityBody(activity?.whole),
      creditsSold: decimalOfMicros(allSold),
      revenue: revenueBody(money),
    },
    mrr: recurring.map(({ currency, monthlyMinor, purchases: counted }) => ({
      currency,
      amount: Number(monthlyMinor),
      purchases: counted,
    })),
    mrrIsExact: overview.isExact,
    nearLimits: overview.limits.map(limitBody),
    hasLimitAlert: overview.isWatched,
    failedPayments: {
      total: overview.failingInvoices.total,
      newest: overview.failingInvoices.newest.map(invoiceBody),
    },
    failingEndpoints: overview.failingEndpoints.map(
      ({ reference, status, failureCount, since }) => ({
        reference,
        status,
        failedAttempts: failureCount,
        ...definedFields({ since: since?.toISOString() }),
      }),
    ),
    ...definedFields({ secondsBehind: delayMs === undefined ? undefined : delayMs / 1_000 }),
  }
}

function activityBody(activity: Activity | undefined) {
  if (activity === undefined) return {}
  const { events, activeCustomers, creditsUsedMicros } = activity
  return { events, activeCustomers, creditsUsed: decimalOfMicros(creditsUsedMicros) }
}

function revenueBody(money: readonly MoneyOfDay[]): OverviewBody['total']['revenue'] {
  const sums = new Map<string, { paid: bigint; refunded: bigint; disputed: bigint }>()
  for (const { currency, paidMinor, refundedMinor, disputedMinor } of money) {
    const sum = sums.get(currency) ?? { paid: 0n, refunded: 0n, disputed: 0n }
    sums.set(currency, {
      paid: sum.paid + paidMinor,
      refunded: sum.refunded + refundedMinor,
      disputed: sum.disputed + disputedMinor,
    })
  }
  return [...sums]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([currency, { paid, refunded, disputed }]) => ({
      currency,
      paid: Number(paid),
      refunded: Number(refunded),
      disputed: Number(disputed),
      net: Number(paid - refunded - disputed),
    }))
}

function limitBody({
  customerRef,
  email,
  reachedAt,
  object,
}: Overview['limits'][number]): OverviewBody['nearLimits'][number] {
  const { product, purchase, limit, value, whole } = object
  return {
    customerRef,
    value,
    reachedAt: reachedAt.toISOString(),
    ...definedFields({
      customerEmail: email,
      productRef: product ?? undefined,
      purchaseRef: purchase ?? undefined,
      limit: limit ?? undefined,
      whole: whole ?? undefined,
    }),
  }
}

function invoiceBody(invoice: FailingInvoice): OverviewBody['failedPayments']['newest'][number] {
  return {
    invoiceRef: invoice.reference,
    customerRef: invoice.customerRef,
    currency: invoice.currency,
    amount: Number(invoice.dueMinor),
    failedCharges: invoice.failedCharges,
    failedAt: invoice.failedAt.toISOString(),
    ...definedFields({ nextChargeAt: invoice.nextChargeAt?.toISOString() }),
  }
}
