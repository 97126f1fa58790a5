import type { Environment } from '@tollgate/schemas/environment'
import type { UsageDelays } from '../billing/decide-usage-bill.ts'
import { measureStoredPacks } from '../billing/measure-packs.ts'
import { readToMeasure } from '../billing/settle-packs.ts'
import type { Customer } from '../customers/repository.ts'
import { readAnswered, type AnsweredParts } from '../unit-of-work/read-answered.ts'
import { inOrder, planInvoices, type MeasureBill } from './plan-invoices.ts'
import { measureStoredUsage } from '../billing/measure-usage.ts'
import { assumeSpan, assumeUsage, type AssumedUsage } from './assume-usage.ts'
import { priceInvoices, type PlannedInvoice, type PreviewedInvoice } from './price-invoices.ts'
import { readBills, type PurchaseAhead, type ReadBills } from './read-bills.ts'
import { readBeside } from './read-beside.ts'
import type { MeasureAhead } from './settle-ahead.ts'
import { readUsageSnapshot, type UsageReadingParts, type UsageSnapshot } from './usage-reading.ts'

export type PreviewParts = UsageReadingParts & AnsweredParts & { readonly delays: UsageDelays }

export type PreviewAt = {
  readonly providerId: string
  readonly environment: Environment
  readonly now: Date
}

export type InvoicesToPreview = {
  readonly customer: Customer
  /** Purchases of one product, whose next bills are previewed. The current one comes last. */
  readonly purchases: readonly PurchaseAhead[]
  /** Invoices of changes of plan, which come before those of the purchases at the same time. */
  readonly today?: readonly PlannedInvoice[]
  readonly assumed?: AssumedUsage | undefined
}

export type PreviewedInvoices = {
  /** In the order in which they are issued. */
  readonly invoices: readonly PreviewedInvoice[]
  /** All usage that was received before this time is charged, and some that was received later may be missing. */
  readonly usageAsOf: Date
}

/**
 * Returns the next invoices of the purchases, computed by the functions that make them. Nothing is stored or locked. Usage is summed up
 * with no transaction open. Throws UsageBehindError while a restarted usage store was not compared with the log.
 */
export async function previewInvoices(
  parts: PreviewParts,
  at: PreviewAt,
  { customer, purchases, today = [], assumed }: InvoicesToPreview,
): Promise<PreviewedInvoices> {
  const { providerId, environment, now } = at
  const rows = parts.database.of(providerId).in(environment)
  const bills = await rows.read((sql) =>
    readBills({ sql, ...at }, customer, purchases, parts.delays),
  )
  const snapshot = await readUsageSnapshot(parts, environment, providerId, bills.customerRefs)
  const plan = (of: ReadBills, usage?: AssumedUsage): Promise<PlannedInvoice[]> =>
    planInvoices(
      of,
      now,
      measurements(parts, at, snapshot, usage),
      settlements(parts, at, snapshot, of, usage),
    )
  const planned = await plan(bills, assumed)
  const beside = await rows.read((sql) =>
    readBeside({ sql, ...at }, customer, purchases, planned, parts.delays),
  )
  const others: PlannedInvoice[] = []
  for (const of of beside) others.push(...(await plan(of)))
  const dated = others.filter(isBefore(planned)).map((each) => ({ ...each, isBeside: true }))
  const invoices = await readAnswered(parts, at, (reading) =>
    priceInvoices(reading, customer.reference, [...today, ...planned, ...dated].toSorted(inOrder)),
  )
  return { invoices, usageAsOf: snapshot.usageAsOf }
}

/** Returns whether an invoice of another purchase is issued before the last of the previewed ones. */
function isBefore(previewed: readonly PlannedInvoice[]) {
  const last = previewed.findLast(({ at }) => at !== undefined)?.at
  return ({ at }: PlannedInvoice): boolean => last !== undefined && at !== undefined && at <= last
}

function measurements(
  { usageStore }: PreviewParts,
  { environment, providerId }: PreviewAt,
  { stored }: UsageSnapshot,
  assumed: AssumedUsage | undefined,
): MeasureBill {
  return async (toBill) => {
    const measured = await measureStoredUsage(usageStore, environment, providerId, toBill, stored)
    return assumeUsage(toBill.purchase, measured, toBill.period ?? toBill.continued, assumed)
  }
}

/** Reads the usage of each settlement of packs. Purchases that are not stored as previewed keep the end of the one before. */
function settlements(
  { usageStore, database }: PreviewParts,
  { environment, providerId }: PreviewAt,
  { stored }: UsageSnapshot,
  { bills }: ReadBills,
  assumed: AssumedUsage | undefined,
): MeasureAhead {
  const rows = database.of(providerId).in(environment)
  const ends = new Map(
    bills.map(({ purchase, usage }) => [purchase.reference, usage[0]?.toBill.endOfPrevious]),
  )
  return async (account, settlement) => {
    const read = await rows.read((sql) => readToMeasure({ sql, providerId }, account, settlement))
    if (read === undefined) return { toMeasure: undefined, measured: new Map() }
    const { purchase, period } = read.used
    const toMeasure = { ...read, endOfPrevious: ends.get(purchase.reference) ?? read.endOfPrevious }
    const measured = await measureStoredPacks(
      usageStore,
      environment,
      providerId,
      toMeasure,
      stored,
    )
    return { toMeasure, measured: assumeSpan(purchase, measured, period, assumed) }
  }
}
