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
  /** How long the sums may take to be read and to reach what was acked, beside what storing all of it again takes. */
  readonly patienceMs: number
}

/** The patience ran out on questions that got no answer: not sums that differ, but no sums. */
export class SumsUnreadableError extends Error {
  override readonly name = 'SumsUnreadableError'
}

const dayMs = 86_400_000
const pollMs = 50
/** Behind an older ClickHouse all records of the run may have to be stored again, on a machine that is busy. */
const storedAgainPerSecondMin = 10_000
/** After the sums agree, a duplicate that is still on its way would show within this time. */
const settleMs = 150

/** Reads what is counted and stored while no load runs, waiting for ClickHouse to reach what was acked. */
export async function readSums(
  context: SumsContext,
  ledgers: readonly CustomerLedger[],
): Promise<Sums> {
  await readUntil(
    context,
    ledgers,
    (sums) => sums.storedRecords >= sums.ackedRecords && sums.counted >= sums.acked,
  )
  await sleep(settleMs)
  const sums = await readUntil(context, ledgers, () => true)
  const { units, records } = await context.readLog()
  return { ...sums, logged: units, loggedRecords: records }
}

/** The first sums that are enough, or the last ones within the patience. */
async function readUntil(
  context: SumsContext,
  ledgers: readonly CustomerLedger[],
  isEnough: (sums: Sums) => boolean,
): Promise<Sums> {
  const deadline = Date.now() + patienceFor(context, ledgers)
  for (;;) {
    try {
      const sums = await readOnce(context, ledgers)
      if (isEnough(sums) || Date.now() >= deadline) return sums
    } catch (error) {
      // The part that answers may be the one that is starting again.
      if (Date.now() >= deadline) throw unreadable(context, ledgers, error)
    }
    await sleep(pollMs)
  }
}

function patienceFor({ patienceMs }: SumsContext, ledgers: readonly CustomerLedger[]): number {
  const records = ledgers.reduce((sum, ledger) => sum + ledger.records, 0)
  return patienceMs + (records / storedAgainPerSecondMin) * 1000
}

function unreadable(
  context: SumsContext,
  ledgers: readonly CustomerLedger[],
  cause: unknown,
): SumsUnreadableError {
  const units = ledgers.reduce((sum, ledger) => sum + ledger.units, 0)
  const seen = cause instanceof Error ? cause.message : String(cause)
  const message =
    `Waited ${Math.round(patienceFor(context, ledgers) / 100) / 10} s for the sums of ${ledgers.length} customers, ` +
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
