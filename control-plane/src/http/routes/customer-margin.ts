import { z } from 'zod'
import { listReferences } from '@tollgate/domain/customers/repository'
import { sumInvoiced } from '@tollgate/domain/invoices/sum-invoiced'
import { listMeters, type Meter } from '@tollgate/domain/meters/repository'
import { marginPicos } from '@tollgate/domain/model-costs/margin'
import { decimalOfMicros, decimalOfUnits } from '@tollgate/domain/money/decimal'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { Environment } from '@tollgate/schemas/environment'
import { requiredReference } from '@tollgate/schemas/http/fields'
import { marginQuerySchema, marginSchema, type MarginBody } from '@tollgate/schemas/http/margins'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import type { ApiServer } from '../../access/api-server.ts'
import { callerOf, type Caller } from '../../access/caller.ts'
import { read, type ReadParts } from '../../access/read.ts'
import { getCustomer } from '../../access/require.ts'
import { definedFields } from '../../domain/defined-fields.ts'
import type { TimeRange } from '../../domain/usage-buckets.ts'
import { invalidField, refusals } from '../../errors.ts'
import { sumDebits, sumModelCosts, type CostMeter } from '../../usage/query-model-costs.ts'
import { waitForSink } from '../../usage/wait-for-sink.ts'

type Parts = ReadParts & {
  readonly partitionCount: (environment: Environment) => number
  readonly eventLog: EventLog
  readonly usageStore: UsageStore
  readonly limits: { readonly usageStoreWaitMs: number }
}

const params = z.object({ reference: requiredReference })

export function registerCustomerMarginRoute(app: ApiServer, parts: Parts): void {
  app.get(
    '/v1/ui/customers/:reference/margin',
    {
      schema: {
        tags: ['Usage'],
        params,
        querystring: marginQuerySchema,
        response: { 200: marginSchema },
      },
    },
    (request) => {
      const { from, to } = request.query
      const range = { startMs: Date.parse(from), endMs: Date.parse(to) }
      if (range.startMs > range.endMs) throw invalidField('to', 'Must not be before `from`')
      return customerMargin(parts, callerOf(request), request.params.reference, range)
    },
  )
}

async function customerMargin(
  parts: Parts,
  caller: Caller,
  anyReference: string,
  range: TimeRange,
): Promise<MarginBody> {
  const dates = { from: new Date(range.startMs), to: new Date(range.endMs) }
  const { providerId } = caller
  const { customer, customerRefs, meters, invoiced } = await read(parts, caller, async (sql) => {
    const found = await getCustomer(sql, caller, anyReference)
    return {
      customer: found,
      customerRefs: await listReferences(sql, providerId, found.reference),
      meters: costMetersOf(await listMeters(sql, providerId)),
      invoiced: await sumInvoiced(sql, providerId, found.reference, dates),
    }
  })
  await requireStored(parts, caller, customerRefs)
  const usage = { ...caller, customerRefs, range }
  const { costPicos, unpricedCalls } = await sumModelCosts(parts.usageStore, usage, meters)
  const debitedMicros = await sumDebits(parts.usageStore, usage)
  const margin = marginPicos({ debitedMicros, invoiced }, costPicos)
  return {
    customerRef: customer.reference,
    from: dates.from.toISOString(),
    to: dates.to.toISOString(),
    cost: decimalOfUnits(costPicos, 12),
    unpricedCalls,
    debitedCredits: decimalOfMicros(debitedMicros),
    invoiced: invoiced.map(({ currency, amountMinor }) => ({
      currency,
      amount: Number(amountMinor),
    })),
    ...definedFields({ margin: margin === undefined ? undefined : decimalOfUnits(margin, 12) }),
  }
}

/** Archived meters are included: their records have costs too. */
function costMetersOf(meters: readonly Meter[]): CostMeter[] {
  return meters.flatMap(({ name, reads }) => {
    const modelCost = reads?.reading.modelCost
    return modelCost === undefined ? [] : [{ name, priceDimension: modelCost.priceDimension }]
  })
}

/** Waits until all acknowledged usage of the customer is stored, since a margin without a part of it would be wrong. */
async function requireStored(
  parts: Parts,
  { environment, providerId }: Caller,
  customerRefs: readonly string[],
): Promise<void> {
  const count = parts.partitionCount(environment)
  const partitions = customerRefs.map((ref) => partitionOf(subjectKey(providerId, ref), count))
  const waitMs = parts.limits.usageStoreWaitMs
  if (!(await waitForSink(parts, environment, [...new Set(partitions)], waitMs))) {
    throw refusals.usageBehind()
  }
}
