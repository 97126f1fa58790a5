import { microsOfDecimal } from '@tollgate/domain/money/decimal'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { Environment } from '@tollgate/schemas/environment'
import { storableMs } from '@tollgate/domain/stored-usage/storable-time'
import type { TimeRange } from '../domain/usage-buckets.ts'

export type Activity = {
  /** Recorded events, whatever their outcome. An event that several meters count is one event. */
  readonly events: number
  /** References of customers with usage that counts. Exact up to some thousand, and beyond mostly within 1 percent. */
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
  const parameters = {
    providerId,
    timeZone,
    startMs: storableMs(range.startMs),
    endMs: storableMs(range.endMs),
  }
  const inRange = `provider_id = {providerId:String}
       AND hour >= fromUnixTimestamp64Milli({startMs:Int64}, 'UTC')
       AND hour < fromUnixTimestamp64Milli({endMs:Int64}, 'UTC')`
  const day = 'toDate(hour, {timeZone:String})'
  const date = `if(grouping(day) = 1, '', toString(day)) AS date`
  const [sums, customers] = await Promise.all([
    store.query<{ date: string; total: string; debited: string }>(
      `SELECT ${date}, toString(sum(events)) AS total, toString(sum(debit)) AS debited
       FROM (SELECT ${day} AS day, events, debit FROM ${environment}.usage_by_meter WHERE ${inRange})
       GROUP BY GROUPING SETS ((), (day))`,
      parameters,
    ),
    store.query<{ date: string; active: string }>(
      `SELECT ${date}, toString(uniqCombined64Merge(15)(customers)) AS active
       FROM (SELECT ${day} AS day, customers FROM ${environment}.active_customers WHERE ${inRange})
       GROUP BY GROUPING SETS ((), (day))`,
      parameters,
    ),
  ])
  const active = new Map(customers.map((row) => [row.date, Number(row.active)]))
  const activities = new Map(
    sums.map(({ date: at, total, debited }): [string, Activity] => [
      at,
      {
        events: Number(total),
        activeCustomers: active.get(at) ?? 0,
        creditsUsedMicros: microsOfDecimal(debited),
      },
    ]),
  )
  const whole = activities.get('') ?? noActivity
  activities.delete('')
  return { whole, days: activities }
}
