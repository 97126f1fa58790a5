import { requireComparedStore } from '@tollgate/domain/stored-usage/store-incarnation'
import type { UsageDifference } from '@tollgate/domain/usage-corrections/change-usage'
import type { CorrectedUsage, NewCorrection } from '@tollgate/domain/usage-corrections/correction'
import { priceCorrections } from '@tollgate/domain/usage-corrections/price-corrections'
import { readCorrectedPurchases } from '@tollgate/domain/usage-corrections/read-corrected-purchases'
import type { StoredUpTo } from '@tollgate/domain/stored-usage/stored-up-to'
import type { CorrectedPeriodBody } from '@tollgate/schemas/http/usage-corrections'
import { farFuture } from '@tollgate/domain/entitlements/compile-entitlement'
import type { CorrectionParts } from './correction-parts.ts'
import { planPage, sumChanges } from './plan-page.ts'
import { readPage, waitForStored, type CorrectionScope, type Page } from './read-page.ts'

/** Number of pairs of a customer and a product whose periods a dry run prices, beginning with the pair of the oldest record. */
const pricedCustomersMax = 100

export type CorrectionPreview = {
  readonly recordsRead: number
  readonly recordsCorrected: number
  readonly recordsSkipped: number
  /** The largest first. */
  readonly changes: readonly CorrectedUsage[]
  readonly periods: CorrectedPeriodBody[]
}

type TooManyRecords = { readonly kind: 'too-many'; readonly recordsMax: number }

/**
 * Returns the changes that the corrections of one request would make, each by itself. Together they read at most as many records as
 * one correction.
 */
export async function previewCorrections(
  parts: CorrectionParts,
  scope: CorrectionScope & { readonly now: Date },
  wanted: readonly NewCorrection[],
): Promise<TooManyRecords | { readonly kind: 'previews'; readonly previews: CorrectionPreview[] }> {
  const { previewRecordsMax: recordsMax } = parts.correctionLimits
  const previews: CorrectionPreview[] = []
  let left = recordsMax
  for (const each of wanted) {
    const preview = await previewCorrection(parts, scope, each, left)
    if (preview === undefined) return { kind: 'too-many', recordsMax }
    left -= preview.recordsRead
    previews.push(preview)
  }
  return { kind: 'previews', previews }
}

/**
 * Returns the changes that a correction would make, and their price. Undefined if it would read more than `recordsMax` records. Throws
 * UsageBehindError if the usage store is behind.
 */
async function previewCorrection(
  given: CorrectionParts,
  scope: CorrectionScope & { readonly now: Date },
  wanted: NewCorrection,
  recordsMax: number,
): Promise<CorrectionPreview | undefined> {
  // A page that reads one record more than is allowed shows that there are too many.
  const pageRecords = Math.min(given.correctionLimits.pageRecords, recordsMax + 1)
  const parts = { ...given, correctionLimits: { ...given.correctionLimits, pageRecords } }
  const stored = await waitForStored(parts, scope, wanted.selection)
  const differences = new Map<string, Differences>()
  const sums = new Map<string, CorrectedUsage>()
  let recordsCorrected = 0
  let recordsSkipped = 0
  let read = 0
  let page: Page | undefined
  do {
    page = await readPage(parts, scope, {
      ...{ reference: '', selection: wanted.selection, createdAt: scope.now },
      ...{ readTo: page?.readTo, after: page?.cursor, stored },
    })
    read += page.records.length
    if (read > recordsMax) return undefined
    const { changed, skipped } = planPage(scope, '', wanted, page.records)
    recordsCorrected += changed.length
    recordsSkipped += skipped
    sumChanges(changed, sums)
    for (const { record, difference } of changed) {
      const { customerRef, productRef, timestamp, dimensions } = record
      const key = JSON.stringify([customerRef, productRef])
      const own = differences.get(key) ?? { customerRef, productRef, list: [] }
      own.list.push(...difference.counts.map((count) => ({ ...count, timestamp, dimensions })))
      differences.set(key, own)
    }
  } while (!page.isLast)
  const periods = await pricePeriods(parts, scope, [...differences.values()], stored)
  await requireComparedStore(parts.usageStore, scope.environment, stored.notes)
  const changes = [...sums.values()].sort((one, other) => compareSizes(other.micros, one.micros))
  return { recordsRead: read, recordsCorrected, recordsSkipped, changes, periods }
}

type Differences = {
  readonly customerRef: string
  readonly productRef: string
  readonly list: UsageDifference[]
}

async function pricePeriods(
  { publisher, usageStore }: CorrectionParts,
  scope: CorrectionScope,
  differences: readonly Differences[],
  stored: StoredUpTo,
): Promise<CorrectedPeriodBody[]> {
  const rows = publisher.database.of(scope.providerId).in(scope.environment)
  const bodies: CorrectedPeriodBody[] = []
  for (const { list, ...of } of differences.slice(0, pricedCustomersMax)) {
    const corrected = await rows.read((sql) =>
      readCorrectedPurchases(sql, scope.providerId, of, list),
    )
    for (const each of corrected) {
      const { reference: purchaseRef, customerRef, currency } = each.purchase
      for (const { period, state, amountMinor } of await priceCorrections(
        usageStore,
        scope,
        each,
        list,
        stored,
      )) {
        bodies.push({
          ...{ purchaseRef, customerRef, state, currency, amountMinor: Number(amountMinor) },
          periodStart: period.start.toISOString(),
          ...(period.end < farFuture ? { periodEnd: period.end.toISOString() } : {}),
        })
      }
    }
  }
  return bodies
}

function compareSizes(one: bigint, other: bigint): number {
  return Number(absolute(one) - absolute(other))
}

function absolute(micros: bigint): bigint {
  return micros < 0n ? -micros : micros
}
