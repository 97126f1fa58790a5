import { setTimeout as sleep } from 'node:timers/promises'
import type { TollgateClient } from '@tollgate/deploy/client/tollgate-client'
import { chargedMeters, type ChargedProduct } from '../client/charged-product.ts'
import { noChargedTotals, type ChargedLedger, type ChargedTotals } from '../load/charged-totals.ts'
import { findChargedDifference, type ChargedSums } from './charged-sums.ts'
import { readStoredCharges } from './charged-stores.ts'
import { noLoggedCharges, type ReadLog } from './read-log.ts'

export type ChargedContext = {
  readonly client: TollgateClient
  readonly product: ChargedProduct
  readonly ledgers: readonly ChargedLedger[]
  readonly readLog: ReadLog
  /** Returns the current environment of the services. */
  readonly readEnvironment: () => Promise<Readonly<Record<string, string | undefined>>>
  /** Whether hot state was lost since the load began. */
  readonly wasHotStateLost: boolean
  /** Milliseconds in which all places must agree. */
  readonly timeoutMs: number
}

const pollMs = 200

/**
 * Reads the sums of every customer and meter while no load runs, until all places agree or the time is over. Returns one line for each
 * customer whose sums differ.
 */
export async function findChargedDifferences(context: ChargedContext): Promise<string[]> {
  const deadline = performance.now() + context.timeoutMs
  for (;;) {
    const differences = await readChargedSums(context).then(
      (sums) => sums.map(findChargedDifference).filter((line) => line !== undefined),
      // The service that must answer may be restarting.
      (error: unknown) => [`the sums of charges cannot be read: ${String(error)}`],
    )
    if (differences.length === 0 || performance.now() > deadline) return differences
    await sleep(pollMs)
  }
}

async function readChargedSums(context: ChargedContext): Promise<ChargedSums[]> {
  const { ledgers, product, readLog, readEnvironment } = context
  const { stored, rolledUp, postedMicros } = await readStoredCharges(
    await readEnvironment(),
    product,
  )
  const { charged: logged } = await readLog()
  return await Promise.all(
    ledgers.map(async (ledger) => {
      const { customerRef } = ledger
      const { counted, left } = await readCounted(context.client, ledger)
      const wallet = { left, postedMicros: postedMicros.get(customerRef) ?? 0n }
      return {
        ...ledger,
        ...{ counted, stored: stored.get(customerRef)!, rolledUp: rolledUp.get(customerRef)! },
        logged: logged.get(customerRef) ?? noLoggedCharges(),
        mayBeUndebited: context.wasHotStateLost,
        wallet: ledger.isPrepaid ? wallet : undefined,
      }
    }),
  )
}

type LimitsAnswer = {
  readonly creditBalance?: number
  readonly limits: readonly { readonly limit: string; readonly used?: number }[]
}

/** Returns the units that hot state has counted under each cap, and the whole credits that are left. */
async function readCounted(
  client: TollgateClient,
  { customerRef, productRef }: ChargedLedger,
): Promise<{ counted: ChargedTotals['units']; left: number }> {
  const request = { customerRef, productRef, includeLimits: true }
  const answer = (await client.require('POST', '/v1/sdk/limits', request)) as LimitsAnswer
  const { units: counted } = noChargedTotals()
  for (const meter of chargedMeters) {
    counted[meter] = answer.limits.find(({ limit }) => limit === meter)?.used ?? Number.NaN
  }
  return { counted, left: answer.creditBalance ?? 0 }
}
