import { microsOfDecimal } from '@tollgate/domain/money/decimal'
import { storableMs } from '@tollgate/domain/stored-usage/storable-time'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { Environment } from '@tollgate/schemas/environment'
import { unpricedSource } from '@tollgate/schemas/http/model-costs'
import type { TimeRange } from '../domain/usage-buckets.ts'

export type CustomerUsage = {
  readonly environment: Environment
  readonly providerId: string
  readonly customerRefs: readonly string[]
  readonly range: TimeRange
}

/** A meter of model costs, and its dimension that says by which price a cost was computed. */
export type CostMeter = { readonly name: string; readonly priceDimension: string }

export type ModelCosts = {
  /** 10^-12 US dollars: values are 10^-6 units, and a unit is 10^-6 dollars. */
  readonly costPicos: bigint
  readonly unpricedCalls: number
}

/**
 * Returns what calls of models cost, whatever their outcome: a call that failed has cost the provider its tokens. Records that are
 * stored twice are counted once.
 */
export async function sumModelCosts(
  store: Pick<UsageStore, 'query'>,
  usage: CustomerUsage,
  meters: readonly CostMeter[],
): Promise<ModelCosts> {
  if (meters.length === 0) return { costPicos: 0n, unpricedCalls: 0 }
  const [row] = await store.query<{ cost: string; unpriced: string }>(
    `SELECT toString(sum(amount)) AS cost, toString(sum(unpriced)) AS unpriced FROM (
       SELECT any(value) AS amount,
         any(dimensions[transform(meter_name, {meters:Array(String)}, {prices:Array(String)}, '')]
           = {unpricedSource:String}) AS unpriced
       FROM ${usage.environment}.usage_records
       WHERE ${ofCustomer} AND meter_name IN {meters:Array(String)} GROUP BY meter_name, id)`,
    {
      ...parametersOf(usage),
      meters: meters.map(({ name }) => name),
      prices: meters.map(({ priceDimension }) => priceDimension),
      unpricedSource,
    },
  )
  return {
    costPicos: microsOfDecimal(row?.cost ?? '0'),
    unpricedCalls: Number(row?.unpriced ?? 0),
  }
}

/**
 * Returns the debits of a customer's wallet by usage, in 10^-6 credits. Only one row of a record has its debit, which is negative for a
 * correction.
 */
export async function sumDebits(
  store: Pick<UsageStore, 'query'>,
  usage: CustomerUsage,
): Promise<bigint> {
  const [row] = await store.query<{ total: string }>(
    `SELECT toString(sum(paid)) AS total FROM (
       SELECT if(min(debit) < 0, min(debit), max(debit)) AS paid FROM ${usage.environment}.usage_records
       WHERE ${ofCustomer} GROUP BY id)`,
    parametersOf(usage),
  )
  return microsOfDecimal(row?.total ?? '0')
}

const ofCustomer = `provider_id = {providerId:String} AND customer_ref IN {customerRefs:Array(String)}
  AND timestamp >= fromUnixTimestamp64Milli({startMs:Int64}, 'UTC')
  AND timestamp < fromUnixTimestamp64Milli({endMs:Int64}, 'UTC')`

function parametersOf({ providerId, customerRefs, range }: CustomerUsage): Record<string, unknown> {
  return {
    providerId,
    customerRefs: [...customerRefs],
    startMs: storableMs(range.startMs),
    endMs: storableMs(range.endMs),
  }
}
