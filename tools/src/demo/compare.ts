import { setTimeout as sleep } from 'node:timers/promises'
import type { TollgateClient } from '@tollgate/deploy/client/tollgate-client'
import { demoCap } from './demo-product.ts'
import { sum, type CustomerTally } from './tally.ts'

export type CustomerComparison = {
  readonly tally: CustomerTally
  /** Units that the limit check subtracted from the cap. */
  readonly counted: number
  /** Records in ClickHouse, with any outcome. */
  readonly stored: number
  /** Units of the stored records that count. */
  readonly storedUnits: number
}

export type CompareContext = {
  readonly client: TollgateClient
  readonly productRef: string
  readonly meterRef: string
  readonly now: () => number
  /** Milliseconds that ClickHouse may take to catch up with the log. */
  readonly timeoutMs: number
}

const parallelMax = 4
const pollMs = 200
const dayMs = 86_400_000

/** Reads the numbers of every customer through the API, and waits for rows that are not stored yet. */
export async function compareCustomers(
  context: CompareContext,
  tallies: readonly CustomerTally[],
  onCompared: () => void,
): Promise<CustomerComparison[]> {
  const deadline = context.now() + context.timeoutMs
  const comparisons: CustomerComparison[] = []
  const waiting = [...tallies]
  await Promise.all(
    Array.from({ length: parallelMax }, async () => {
      for (let tally = waiting.pop(); tally; tally = waiting.pop()) {
        comparisons.push(await compareCustomer(context, tally, deadline))
        onCompared()
      }
    }),
  )
  return comparisons
}

async function compareCustomer(
  context: CompareContext,
  tally: CustomerTally,
  deadline: number,
): Promise<CustomerComparison> {
  const { remaining } = await context.client.checkLimit(tally.customerRef, context.productRef)
  for (;;) {
    const { storedUnits, stored } = await readStored(context, tally.customerRef)
    if (stored >= sum(tally.acked) || context.now() > deadline) {
      return { tally, counted: demoCap - remaining, stored, storedUnits }
    }
    await sleep(pollMs)
  }
}

async function readStored(
  context: CompareContext,
  customerRef: string,
): Promise<{ stored: number; storedUnits: number }> {
  const query = {
    from: new Date(context.now() - dayMs).toISOString(),
    to: new Date(context.now() + dayMs).toISOString(),
    customerRef,
  }
  const all = await context.client.meterUsage(context.meterRef, { ...query, outcome: 'all' })
  const counting = await context.client.meterUsage(context.meterRef, query)
  return { stored: all.count, storedUnits: counting.total }
}

export function agrees({ tally, counted, stored, storedUnits }: CustomerComparison): boolean {
  const acked = sum(tally.acked)
  return (
    sum(tally.sent) === acked &&
    acked === stored &&
    tally.acked.success === counted &&
    counted === storedUnits
  )
}
