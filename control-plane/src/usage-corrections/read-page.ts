import { findCustomer, listCurrentReferences } from '@tollgate/domain/customers/repository'
import { requireComparedStore } from '@tollgate/domain/stored-usage/store-incarnation'
import { waitUntilStored, type StoredUpTo } from '@tollgate/domain/stored-usage/stored-up-to'
import type {
  CorrectionCursor,
  CorrectionSelection,
  ReadTo,
} from '@tollgate/domain/usage-corrections/correction'
import { partitionsOf } from '@tollgate/domain/billing/measure-usage'
import type { Environment } from '@tollgate/schemas/environment'
import { correctionPastMsMax } from '@tollgate/schemas/limits'
import { usageTopic } from '@tollgate/schemas/topics'
import type { CorrectionParts } from './correction-parts.ts'
import { listOriginals, readRecords, type RecordToCorrect } from './read-records.ts'

export type CorrectionScope = {
  readonly environment: Environment
  readonly providerId: string
}

export type PageQuery = {
  /** Empty for a dry run, which has no reference. */
  readonly reference: string
  readonly selection: CorrectionSelection
  readonly createdAt: Date
  readonly readTo: ReadTo | undefined
  readonly after: CorrectionCursor | undefined
  /** How far the usage store has stored records. If undefined, `readPage` waits until the store has all acknowledged usage. */
  readonly stored?: StoredUpTo | undefined
}

export type Page = {
  readonly records: readonly RecordToCorrect[]
  readonly readTo: ReadTo
  /** Undefined if the page has no record. */
  readonly cursor: CorrectionCursor | undefined
  readonly isLast: boolean
}

/**
 * Reads the next records of a correction with their remaining units and credits. Without `stored`, it first waits until the usage store
 * has all usage that was acknowledged before the call, with the records of earlier corrections, so the remainders are exact. Throws
 * UsageBehindError if that takes too long.
 *
 * The first page decides which records are corrected: those that were acknowledged before it.
 */
export async function readPage(
  parts: CorrectionParts,
  scope: CorrectionScope,
  query: PageQuery,
): Promise<Page> {
  const { environment, providerId } = scope
  const { usageStore, correctionLimits: limits } = parts
  const customerRefs = await listCustomerRefs(parts, scope, query.selection)
  const stored = query.stored ?? (await waitForUsageOf(parts, scope, customerRefs))
  const readTo =
    query.readTo ??
    Object.fromEntries(
      stored.parts.map(({ partition, beforeOffset }) => [String(partition), beforeOffset]),
    )
  const originals = await listOriginals(usageStore, {
    environment,
    providerId,
    selection: query.selection,
    customerRefs,
    sinceMs: query.createdAt.getTime() - correctionPastMsMax,
    // Rows of these parts no longer change, so a repeated page has the same records.
    parts: stored.parts.map((part) => ({
      ...part,
      beforeOffset: readTo[String(part.partition)] ?? 0,
    })),
    after: query.after,
    recordsMax: limits.pageRecords,
  })
  const records = await readRecords(usageStore, scope, query.reference, originals, stored.parts)
  await requireComparedStore(usageStore, environment, stored.notes)
  const last = originals.at(-1)
  return {
    records,
    readTo,
    cursor: last && { ms: last.ms, id: last.id },
    isLast: originals.length < limits.pageRecords,
  }
}

/** Waits until the usage store has all usage that the selection may contain. Throws UsageBehindError if that takes too long. */
export async function waitForStored(
  parts: CorrectionParts,
  scope: CorrectionScope,
  selection: CorrectionSelection,
): Promise<StoredUpTo> {
  return waitForUsageOf(parts, scope, await listCustomerRefs(parts, scope, selection))
}

function waitForUsageOf(
  parts: CorrectionParts,
  scope: CorrectionScope,
  customerRefs: readonly string[] | undefined,
): Promise<StoredUpTo> {
  const partitions = listPartitions(parts, scope, customerRefs)
  const { publisher, correctionLimits } = parts
  return waitUntilStored(
    parts,
    scope.environment,
    partitions,
    () => publisher.now(),
    correctionLimits.storedWaitMs,
  )
}

/** Returns every reference under which the selected usage may be recorded, or undefined for usage of all customers. */
async function listCustomerRefs(
  { publisher }: CorrectionParts,
  { environment, providerId }: CorrectionScope,
  { customerRef }: CorrectionSelection,
): Promise<readonly string[] | undefined> {
  if (customerRef === undefined) return undefined
  return publisher.database
    .of(providerId)
    .in(environment)
    .read(async (sql) => {
      const customer = await findCustomer(sql, providerId, customerRef)
      if (customer === undefined) return [customerRef]
      const own = { providerId, customerRef: customer.reference }
      const references = await listCurrentReferences(sql, [own])
      return [...new Set([customerRef, ...(references.get(customer.reference) ?? [])])]
    })
}

function listPartitions(
  { eventLog }: CorrectionParts,
  { environment, providerId }: CorrectionScope,
  customerRefs: readonly string[] | undefined,
): number[] {
  const count = eventLog.partitionCount(usageTopic(environment))
  return customerRefs === undefined
    ? Array.from({ length: count }, (_, partition) => partition)
    : partitionsOf(providerId, customerRefs, count)
}
