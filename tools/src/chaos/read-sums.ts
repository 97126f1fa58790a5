import { setTimeout as sleep } from 'node:timers/promises'
import type { TollgateClient } from '@tollgate/deploy/client/tollgate-client'
import { measuredCap } from '../client/measured-product.ts'
import { formatCount } from '@tollgate/platform/terminal/table'
import type { CustomerLedger } from '../load/ledger.ts'
import type { ReadLog } from './read-log.ts'
import { addSums, noSums, type Sums } from './sums.ts'

export type SumsContext = {
  readonly client: TollgateClient
  readonly productRef: string
  readonly meterRef: string
  readonly readLog: ReadLog
  /**
   * Milliseconds in which the sums must be readable and reach the acknowledged units. The time to store all records again is added.
   */
  readonly timeoutMs: number
}

/** The timeout was reached while requests got no answer. There are no sums to compare. */
export class SumsUnreadableError extends Error {
  override readonly name = 'SumsUnreadableError'
}

const dayMs = 86_400_000
const pollMs = 50
/**
 * Minimum rate on a busy machine at which records are stored again. After an older ClickHouse was put back, that may be all records
 * of the run.
 */
const storedAgainPerSecondMin = 10_000
/** Milliseconds to wait after the sums agree. A duplicate that is still in flight would show within this time. */
const recheckDelayMs = 150

/** Reads the counted and stored sums while no load runs. Waits until ClickHouse contains everything acknowledged. */
export async function readSums(
  context: SumsContext,
  ledgers: readonly CustomerLedger[],
): Promise<Sums> {
  await readUntil(
    context,
    ledgers,
    (sums) => sums.storedRecords >= sums.ackedRecords && sums.counted >= sums.acked,
  )
  await sleep(recheckDelayMs)
  const sums = await readUntil(context, ledgers, () => true)
  const { units, records } = await context.readLog()
  return { ...sums, logged: units, loggedRecords: records }
}

/** Returns the first sums that satisfy `isEnough`, or the last ones after the timeout. */
async function readUntil(
  context: SumsContext,
  ledgers: readonly CustomerLedger[],
  isEnough: (sums: Sums) => boolean,
): Promise<Sums> {
  const deadline = Date.now() + timeoutFor(context, ledgers)
  for (;;) {
    try {
      const sums = await readOnce(context, ledgers)
      if (isEnough(sums) || Date.now() >= deadline) return sums
    } catch (error) {
      // The service that must answer may be restarting.
      if (Date.now() >= deadline) throw unreadable(context, ledgers, error)
    }
    await sleep(pollMs)
  }
}

function timeoutFor({ timeoutMs }: SumsContext, ledgers: readonly CustomerLedger[]): number {
  const records = ledgers.reduce((sum, ledger) => sum + ledger.records, 0)
  return timeoutMs + (records / storedAgainPerSecondMin) * 1000
}

function unreadable(
  context: SumsContext,
  ledgers: readonly CustomerLedger[],
  cause: unknown,
): SumsUnreadableError {
  const units = ledgers.reduce((sum, ledger) => sum + ledger.units, 0)
  const seen = cause instanceof Error ? cause.message : String(cause)
  const message =
    `Waited ${Math.round(timeoutFor(context, ledgers) / 100) / 10} s for the sums of ${ledgers.length} customers, ` +
    `${formatCount(units)} units acked; the last answer was ${seen.replaceAll(/\s+/g, ' ')}`
  return new SumsUnreadableError(message, { cause })
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
    ...noSums,
    sent: ledger.sentUnits,
    acked: ledger.units,
    counted: measuredCap - limit.remaining,
    stored: usage.total,
    sentRecords: ledger.sentRecords,
    ackedRecords: ledger.records,
    storedRecords: usage.count,
  }
}
