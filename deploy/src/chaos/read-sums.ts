import { setTimeout as sleep } from 'node:timers/promises'
import type { TollgateClient } from '../client/tollgate-client.ts'
import { measuredCap } from '../client/measured-product.ts'
import type { CustomerLedger } from './load.ts'
import { addSums, noSums, type Sums } from './sums.ts'

export type SumsContext = {
  readonly client: TollgateClient
  readonly productRef: string
  readonly meterRef: string
}

const dayMs = 86_400_000
const patienceMs = 60_000
const pollMs = 50
/** After the sums agree, a duplicate that is still on its way would show within this time. */
const settleMs = 150

/** Reads what is counted and stored while no load runs, waiting for ClickHouse to reach what was acked. */
export async function readSums(
  context: SumsContext,
  ledgers: readonly CustomerLedger[],
): Promise<Sums> {
  const deadline = Date.now() + patienceMs
  await until(deadline, async () => {
    const sums = await readOnce(context, ledgers)
    return sums.storedRecords >= sums.ackedRecords && sums.counted >= sums.acked
  })
  await sleep(settleMs)
  return readOnce(context, ledgers)
}

async function until(deadline: number, holds: () => Promise<boolean>): Promise<void> {
  while (Date.now() < deadline) {
    // The part that answers may be the one that is starting again.
    if (await holds().catch(() => false)) return
    await sleep(pollMs)
  }
}

async function readOnce(context: SumsContext, ledgers: readonly CustomerLedger[]): Promise<Sums> {
  const each = await Promise.all(ledgers.map((ledger) => readCustomer(context, ledger)))
  return each.reduce(addSums, noSums)
}

async function readCustomer(context: SumsContext, ledger: CustomerLedger): Promise<Sums> {
  const { client, productRef, meterRef } = context
  const now = Date.now()
  const [limit, usage] = await Promise.all([
    client.checkLimit(ledger.customerRef, productRef),
    client.meterUsage(meterRef, {
      from: new Date(now - dayMs).toISOString(),
      to: new Date(now + dayMs).toISOString(),
      customerRef: ledger.customerRef,
    }),
  ])
  return {
    acked: ledger.units,
    counted: measuredCap - limit.remaining,
    stored: usage.total,
    ackedRecords: ledger.records,
    storedRecords: usage.count,
  }
}
