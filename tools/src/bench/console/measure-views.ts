import { exploreUsage } from '@tollgate/control-plane/usage/explore-usage'
import type { ExplorerQuery } from '@tollgate/control-plane/usage/explorer-statement'
import { readActivity } from '@tollgate/control-plane/usage/query-activity'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { spreadOf } from '../../load/statistics.ts'
import { generatedMeters, type GeneratedUsage } from './generate-usage.ts'

type MeasuredRounds = {
  /** Median. */
  readonly seconds: number
  readonly secondsMax: number
}

export type MeasuredView = MeasuredRounds & { readonly name: string }

const dayMs = 86_400_000
const bucketsMax = 100_000

/** Returns the views of the usage explorer that the console opens first. */
function viewsOf({ providerId, endMs, days }: GeneratedUsage): Record<string, ExplorerQuery> {
  const range = { startMs: endMs - days * dayMs, endMs }
  const all: ExplorerQuery = {
    environment: 'sandbox',
    providerId,
    meterNames: ['requests'],
    range,
    previous: undefined,
    timeZone: 'Europe/Paris',
    granularity: 'day',
    groupBy: undefined,
    dimension: undefined,
    top: 10,
    customerRefs: undefined,
    productRef: undefined,
    purchaseRef: undefined,
    outcome: 'success',
    filter: undefined,
  }
  const lastWeek = { startMs: endMs - 7 * dayMs, endMs }
  const weekBefore = { startMs: endMs - 14 * dayMs, endMs: endMs - 7 * dayMs }
  return {
    'two meters by day': { ...all, meterNames: generatedMeters },
    'top customers by day': { ...all, groupBy: 'customer' },
    'products by hour': { ...all, groupBy: 'product', granularity: 'hour' },
    'purchases, without time': { ...all, groupBy: 'purchase', granularity: undefined },
    'outcomes by day': { ...all, groupBy: 'outcome', outcome: 'all' },
    'a dimension by day': { ...all, groupBy: 'dimension', dimension: 'model' },
    'top customers of a week, compared': {
      ...all,
      ...{ groupBy: 'customer', range: lastWeek, previous: weekBefore },
    },
    'one customer by day': { ...all, customerRefs: ['cus_bench_7'] },
    'a dimension of one customer': {
      ...all,
      ...{ groupBy: 'dimension', dimension: 'model', customerRefs: ['cus_bench_7'] },
    },
  }
}

/** Measures each view, and the usage of Home. */
export async function measureViews(
  store: UsageStore,
  usage: GeneratedUsage,
  repeats: number,
): Promise<MeasuredView[]> {
  const { providerId, endMs, days } = usage
  const views = Object.entries(viewsOf(usage)).map(
    ([name, query]) => [name, () => exploreUsage(store, query, bucketsMax)] as const,
  )
  const home = () =>
    readActivity(store, {
      environment: 'sandbox',
      providerId,
      range: { startMs: endMs - days * dayMs, endMs },
      timeZone: 'Europe/Paris',
    })
  const measured: MeasuredView[] = []
  for (const [name, query] of [...views, ['usage of Home', home] as const]) {
    measured.push({ name, ...(await measureRounds(query, repeats)) })
  }
  return measured
}

/** Measures a request in `repeats` rounds. A first round is not counted. */
export async function measureRounds(
  request: () => Promise<unknown>,
  repeats: number,
): Promise<MeasuredRounds> {
  await request()
  const all: number[] = []
  for (let round = 0; round < repeats; round += 1) {
    const startedAtMs = performance.now()
    await request()
    all.push((performance.now() - startedAtMs) / 1_000)
  }
  const { median: seconds, max: secondsMax } = spreadOf(all)
  return { seconds, secondsMax }
}
