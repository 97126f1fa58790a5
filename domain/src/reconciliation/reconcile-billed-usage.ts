import type { Queryable } from '@tollgate/platform/database/database'
import { decimalFromMicros } from '@tollgate/schemas/quantity'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import { billedWindowOf } from '../purchases/usage-windows.ts'
import { listReferencesAt } from '../customers/references-at.ts'
import { microsOfDecimal } from '../money/decimal.ts'
import type { UsageReading } from '../pricing/line-inputs.ts'
import { findEndOfPrevious } from '../purchases/purchase-fields-repository.ts'
import { unixSeconds } from '../periods/periods.ts'
import { sumCountedUsage, type CountedReference } from '../stored-usage/sum-counted-usage.ts'
import type { StoredPart, UsageWindow } from '../stored-usage/query-stored-usage.ts'
import { waitUntilAllStored, type CountingParts } from './counting-parts.ts'
import type { Tally } from './finding.ts'
import type { Scope } from './scope.ts'

/**
 * Maximum number of lines that are checked together. The customers' references are part of the URL of a query, so it must not grow
 * too long.
 */
const linesAtOnce = 200

type Place = { readonly createdAt: Date; readonly invoiceRef: string; readonly line: number }

/** An invoice line that charges usage. */
type UsageLine = Place & {
  readonly providerId: string
  readonly purchase: {
    readonly reference: string
    readonly customerRef: string
    readonly productRef: string
    readonly startDate: Date
    readonly createdAt: Date
  }
  readonly period: { readonly start: Date; readonly end: Date }
  /** Usage of the period billed up to and including this line, 10^-6 units. */
  readonly billedMicros: bigint
  readonly reading: UsageReading
  /** When the usage was read, by the customer's time. */
  readonly readAt: Date
}

/**
 * Sums the usage of invoice lines again, over exactly the records that were available when it was billed. Late records have a later
 * offset in the log and are charged by a line of their own, so they are no difference. Throws UsageBehindError.
 */
export async function reconcileBilledUsage(
  sql: Queryable,
  parts: CountingParts,
  scope: Scope,
  tally: Tally,
): Promise<void> {
  const stored = await waitUntilAllStored(parts, scope.environment)
  let after: Place | undefined
  for (;;) {
    scope.stopping?.throwIfAborted()
    const page = await listUsageLines(sql, scope, after)
    if (page.length === 0) return
    for (const lines of groupsOf(page))
      await comparePage({ sql, parts, scope, stored }, lines, tally)
    after = page.at(-1)
  }
}

type Run = {
  readonly sql: Queryable
  readonly parts: CountingParts
  readonly scope: Scope
  readonly stored: readonly StoredPart[]
}

/** Groups lines that one query can sum: those of one provider and meter, with the same filter. */
function groupsOf(lines: readonly UsageLine[]): Iterable<readonly UsageLine[]> {
  const groups = new Map<string, UsageLine[]>()
  for (const line of lines) {
    const key = JSON.stringify([line.providerId, line.reading.meterName, line.reading.where])
    groups.set(key, [...(groups.get(key) ?? []), line])
  }
  return groups.values()
}

async function comparePage(run: Run, lines: readonly UsageLine[], tally: Tally): Promise<void> {
  const { sql, parts, scope, stored } = run
  const { providerId, reading } = lines[0]!
  const windows: UsageWindow[] = []
  for (const line of lines) windows.push(await windowOfLine(sql, line))
  const references = await listReferencesAt(
    sql,
    lines.map((line) => ({
      providerId,
      customerRef: line.purchase.customerRef,
      at: line.readAt,
    })),
  )
  const partitionCount = parts.eventLog.partitionCount(usageTopic(scope.environment))
  const readings = lines.flatMap((line, at) =>
    references[at]!.map((customerRef): CountedReference & { readonly at: number } => {
      const partition = partitionOf(subjectKey(providerId, customerRef), partitionCount)
      const beforeOffset = Number(line.reading.nextOffsets[String(partition)] ?? '0')
      const { productRef } = line.purchase
      return { at, customerRef, productRef, window: windows[at]!, beforeOffset }
    }),
  )
  const { environment } = scope
  const of = { environment, providerId, meterName: reading.meterName, where: reading.where }
  const sums = await sumCountedUsage(parts.usageStore, of, readings, stored)
  const recorded = lines.map(() => 0n)
  for (const [index, { at }] of readings.entries()) recorded[at]! += sums[index]!
  for (const [at, line] of lines.entries()) compareLine(line, recorded[at]!, tally)
}

function compareLine(line: UsageLine, recordedMicros: bigint, tally: Tally): void {
  const { providerId, invoiceRef, billedMicros, createdAt } = line
  tally.compared(providerId, 'billed_usage')
  if (recordedMicros === billedMicros) return
  tally.found({
    providerId,
    kind: 'billed_usage',
    difference: 'differs',
    reference: invoiceRef,
    ours: `line ${line.line + 1} billed ${decimalFromMicros(billedMicros)}`,
    theirs: `recorded ${decimalFromMicros(recordedMicros)}`,
    since: createdAt,
    isRepaired: false,
  })
}

/** Returns the time window that was billed. Only the first period of a purchase can depend on the end of the previous one. */
async function windowOfLine(
  sql: Queryable,
  { providerId, purchase, period }: UsageLine,
): Promise<UsageWindow> {
  const isFirst = unixSeconds(period.start) === unixSeconds(purchase.startDate)
  const endOfPrevious = isFirst ? await findEndOfPrevious(sql, providerId, purchase) : undefined
  return billedWindowOf(purchase, period, endOfPrevious)
}

type Row = {
  created_at: Date
  invoice_ref: string
  line: number
  provider_id: string
  purchase_ref: string
  customer_ref: string
  product_ref: string | null
  start_date: Date
  purchase_created_at: Date
  period_start: Date
  period_end: Date
  inputs: { usedUnits: string; lateUnits?: string; reading: UsageReading }
  has_clock: boolean
}

/** Returns a page of usage lines in the order of their invoices, after `after`. */
async function listUsageLines(
  sql: Queryable,
  { from, to, providerId }: Scope,
  after: Place | undefined,
): Promise<UsageLine[]> {
  const rows = await sql<Row[]>`
    select invoices.created_at, invoice_ref, line, invoices.provider_id, purchase_ref,
      invoices.customer_ref, product_ref, start_date, purchases.created_at as purchase_created_at,
      period_start, period_end, inputs, test_clock_ref is not null as has_clock
    from invoices
    join invoice_lines on invoice_lines.provider_id = invoices.provider_id
      and invoice_ref = invoices.reference
    join purchases on purchases.provider_id = invoices.provider_id
      and purchases.reference = purchase_ref
    left join customers on customers.provider_id = invoices.provider_id
      and customers.reference = invoices.customer_ref
    where invoices.created_at >= ${from} and invoices.created_at < ${to}
      and kind in ('usage', 'late_usage')
      ${providerId === undefined ? sql`` : sql`and invoices.provider_id = ${providerId}`}
      ${after === undefined ? sql`` : isAfter(sql, after)}
    order by invoices.created_at, invoice_ref, line limit ${linesAtOnce}`
  return rows.map(fromRow)
}

function isAfter(sql: Queryable, { createdAt, invoiceRef, line }: Place) {
  return sql`
    and invoices.created_at >= ${createdAt}
    and (invoices.created_at, invoice_ref, line) > (${createdAt}, ${invoiceRef}, ${line})`
}

function fromRow(row: Row): UsageLine {
  const { usedUnits, lateUnits = '0', reading } = row.inputs
  return {
    createdAt: row.created_at,
    invoiceRef: row.invoice_ref,
    line: row.line,
    providerId: row.provider_id,
    purchase: {
      reference: row.purchase_ref,
      customerRef: row.customer_ref,
      productRef: row.product_ref ?? '',
      startDate: row.start_date,
      createdAt: row.purchase_created_at,
    },
    period: { start: row.period_start, end: row.period_end },
    billedMicros: microsOfDecimal(usedUnits) + microsOfDecimal(lateUnits),
    reading,
    // The watermark is real time. A customer on a test clock is billed at the time of the clock, and cannot change meanwhile.
    readAt: row.has_clock ? row.created_at : new Date(reading.watermark),
  }
}
