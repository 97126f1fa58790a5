import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { Granularity, MeterUsageResponse } from '@tollgate/schemas/http/meters'
import { usageGroupsMax } from '@tollgate/schemas/limits'
import { bucketsOf, type TimeRange } from '../domain/usage-buckets.ts'
import { invalidField } from '../errors.ts'
import { queryGroupedUsage, type UsageGrouping } from './query-grouped-usage.ts'
import { sumUsage, sumUsageByBucket, type UsageQuery, type UsageSum } from './query-usage.ts'

export type BodyParts = {
  readonly usageStore: Pick<UsageStore, 'query'>
  readonly limits: { readonly bucketsMax: number }
}

type Body = Omit<MeterUsageResponse, 'meterRef' | 'meterName' | 'customerRef' | 'from' | 'to'>

/** Returns the total, and with a granularity its buckets. */
export async function ungroupedBody(
  { usageStore, limits }: BodyParts,
  usage: UsageQuery,
  granularity: Granularity | undefined,
): Promise<Body> {
  if (granularity === undefined) return total(await sumUsage(usageStore, usage))
  const ranges = requireBuckets(usage.range, granularity, limits.bucketsMax)
  const { whole, buckets } = await sumUsageByBucket(usageStore, usage, granularity)
  return { granularity, buckets: bucketsBody(ranges, buckets), ...total(whole) }
}

/** Returns the total and its groups, and with a granularity the buckets of each group. */
export async function groupedBody(
  { usageStore, limits: { bucketsMax } }: BodyParts,
  usage: UsageQuery,
  grouping: UsageGrouping,
): Promise<Body> {
  const { dimensions, granularity } = grouping
  const ranges =
    granularity === undefined ? [] : requireBuckets(usage.range, granularity, bucketsMax)
  const rowsMax = usageGroupsMax + (granularity === undefined ? 1 : bucketsMax)
  const found = await queryGroupedUsage(usageStore, usage, grouping, rowsMax)
  if (found === undefined || found.groups.length > usageGroupsMax) {
    throw tooMany(`The usage has more than ${usageGroupsMax} groups`)
  }
  const { whole, groups, other } = found
  if (ranges.length * (groups.length + 1) > bucketsMax) {
    throw tooMany(`All groups together have more than ${bucketsMax} buckets`)
  }
  const withBuckets = (sums: ReadonlyMap<number, UsageSum>): Pick<Body, 'buckets'> =>
    granularity === undefined ? {} : { buckets: bucketsBody(ranges, sums) }
  return {
    ...total(whole),
    ...(granularity === undefined ? {} : { granularity }),
    groups: groups.map(({ values, buckets, ...sum }) => ({
      dimensions: Object.fromEntries(dimensions.map((name, index) => [name, values[index]!])),
      ...valueBody(sum),
      ...withBuckets(buckets),
    })),
    ...(other && {
      other: { groups: other.groups, ...valueBody(other), ...withBuckets(other.buckets) },
    }),
  }
}

function tooMany(what: string): Error {
  return invalidField('groupBy', `${what}. Use \`top\`, a shorter range or fewer dimensions`)
}

function requireBuckets(range: TimeRange, granularity: Granularity, max: number): TimeRange[] {
  const ranges = bucketsOf(range, granularity, max)
  if (ranges === undefined) throw invalidField('to', `At most ${max} buckets are allowed`)
  return ranges
}

function total({ total: amount, count }: UsageSum): Pick<Body, 'total' | 'count'> {
  return { total: Number(amount), count }
}

function valueBody({ total: amount, count }: UsageSum): { value: number; count: number } {
  return { value: Number(amount), count }
}

function bucketsBody(
  ranges: readonly TimeRange[],
  sums: ReadonlyMap<number, UsageSum>,
): NonNullable<Body['buckets']> {
  return ranges.map(({ startMs, endMs }) => ({
    start: new Date(startMs).toISOString(),
    end: new Date(endMs).toISOString(),
    ...valueBody(sums.get(startMs) ?? { total: '0', count: 0 }),
  }))
}
