import { microsOfDecimal } from '@tollgate/domain/money/decimal'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { Environment } from '@tollgate/schemas/environment'
import { storableMs } from '@tollgate/domain/stored-usage/storable-time'
import type { TimeRange } from '../domain/usage-buckets.ts'

export type Activity = {
  /** Recorded events, whatever their outcome. An event that several meters count is one event. */
  readonly events: number
  /** References of customers with usage that counts. Exact up to some ten thousand, and within 1 percent beyond. */
  readonly activeCustomers: number
  /** 10^-6 credits that wallets paid for usage. */
  readonly creditsUsedMicros: bigint
}

export const noActivity: Activity = { events: 0, activeCustomers: 0, creditsUsedMicros: 0n }

type ActivityQuery = {
  readonly environment: Environment
  readonly providerId: string
  /** The range must consist of whole hours. */
  readonly range: TimeRange
  readonly timeZone: string
}

/** Returns the activity of the whole range, and of its days by date. Hours belong to the day in which they begin. */
export async function readActivity(
  store: Pick<UsageStore, 'query'>,
  { environment, providerId, range, timeZone }: ActivityQuery,
): Promise<{ readonly whole: Activity; readonly days: ReadonlyMap<string, Activity> }> {
  const rows = await store.query<{ date: string; total: string; active: string; debited: string }>(
    `SELECT if(grouping(day) = 1, '', toString(day)) AS date, toString(sum(events)) AS total,
       toString(uniqIf(customer_ref, outcome = 'success')) AS active, toString(sum(debit)) AS debited
     FROM (
       SELECT toDate(hour, {timeZone:String}) AS day, events, customer_ref, outcome, debit
       FROM ${environment}.usage_by_purchase
       WHERE provider_id = {providerId:String}
         AND hour >= fromUnixTimestamp64Milli({startMs:Int64}, 'UTC')
         AND hour < fromUnixTimestamp64Milli({endMs:Int64}, 'UTC')
     )
     GROUP BY GROUPING SETS ((), (day))`,
    {
      providerId,
      timeZone,
      startMs: storableMs(range.startMs),
      endMs: storableMs(range.endMs),
    },
  )
  const days = new Map<string, Activity>()
  let whole = noActivity
  for (const { date, total, active, debited } of rows) {
    const activity = {
      events: Number(total),
      activeCustomers: Number(active),
      creditsUsedMicros: microsOfDecimal(debited),
    }
    if (date === '') whole = activity
    else days.set(date, activity)
  }
  return { whole, days }
}
