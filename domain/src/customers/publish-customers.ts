import type { TransactionSql } from 'postgres'
import type { Environment } from '@tollgate/schemas/environment'
import type { Entitlement, KnownCustomer } from '@tollgate/schemas/hot-state/documents'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { countingWindows } from '../entitlements/counting-windows.ts'
import { publishTargets, type PublishWhen } from '../publications/publish-targets.ts'
import type { PublisherParts } from '../publications/publisher-parts.ts'
import type { TargetName } from '../publications/repository.ts'
import { workOff } from '../publications/work-off.ts'
import { entitlementOf } from '../purchases/entitlement-of.ts'
import { listDecidingPurchases, type Purchase } from '../purchases/repository.ts'
import { listReferencesOf, raisePublicationVersions } from './repository.ts'

/**
 * Customers whose entries are on their way to the hot state at a time; each has one or two of them on the way. Many,
 * because a write that must reach a disk shares the wait with those that go with it.
 */
const customersInFlightMax = 256

/** Lets the data plane answer for the customers: who they are, and what each purchase allows, under every reference. */
export async function publishCustomers(
  parts: PublisherParts,
  environment: Environment,
  targets: readonly TargetName[],
  when: PublishWhen,
): Promise<void> {
  const pool = parts.database.in(environment)
  await publishTargets(pool, 'customer', targets, when, async (sql, due) => {
    const customers = await readCustomers(parts, sql, due)
    await workOff(customers, customersInFlightMax, (customer) =>
      writeEntries(parts, environment, customer),
    )
  })
}

/** What the entries of one customer are made of. */
type PublishedCustomer = {
  readonly providerId: string
  readonly customerRef: string
  readonly version: number
  /** By when they were linked. */
  readonly references: readonly string[]
  /** By product. */
  readonly entitlements: ReadonlyMap<string, Entitlement>
}

async function readCustomers(
  parts: PublisherParts,
  sql: TransactionSql,
  targets: readonly TargetName[],
): Promise<PublishedCustomer[]> {
  const names = targets.map(({ providerId, target }) => ({ providerId, customerRef: target }))
  // In this order: the rows that are raised are locked, and what is read after that is what the version stands for.
  const versions = await raisePublicationVersions(sql, names)
  const references = await listReferencesOf(sql, names)
  const purchases = await listDecidingPurchases(sql, names)
  const now = parts.now()
  return names.flatMap(({ providerId, customerRef }) => {
    const version = versions.get(customerRef)
    if (version === undefined) return []
    const known = references.get(customerRef) ?? []
    const entitlements = entitlementsOf(purchases.get(customerRef) ?? [], known, now)
    return [{ providerId, customerRef, version, references: known, entitlements }]
  })
}

function entitlementsOf(
  purchases: readonly Purchase[],
  references: readonly string[],
  now: Date,
): Map<string, Entitlement> {
  const entitlements = new Map<string, Entitlement>()
  for (const purchase of purchases) {
    const entitlement = entitlementOf(purchase, references, now)
    if (entitlement !== undefined) entitlements.set(purchase.productRef, entitlement)
  }
  return entitlements
}

async function writeEntries(
  { hotState, partitionCount }: PublisherParts,
  environment: Environment,
  { providerId, customerRef, version, references, entitlements }: PublishedCustomer,
): Promise<void> {
  const known: KnownCustomer = { customerRef }
  // The latest link first: its counters are in place before the entries of the older references name it.
  for (const reference of references.toReversed()) {
    const subject = subjectKey(providerId, reference)
    const partition = partitionOf(subject, partitionCount(environment))
    const at = { space: environment, partition, subject }
    for (const [productRef, entitlement] of entitlements) {
      await hotState.putEntry(
        { ...at, scope: productRef },
        { version, document: JSON.stringify(entitlement), windows: countingWindows(entitlement) },
      )
    }
    // Last, because slots of a known customer are swept early: the purchases above have taken theirs by now.
    const document = JSON.stringify(known)
    await hotState.putEntry({ ...at, scope: '' }, { version, document, windows: [] })
  }
}
