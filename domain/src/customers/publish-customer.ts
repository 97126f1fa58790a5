import type { TransactionSql } from 'postgres'
import type { Environment } from '@tollgate/schemas/environment'
import type { Entitlement, KnownCustomer } from '@tollgate/schemas/hot-state/documents'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { countingWindows } from '../entitlements/counting-windows.ts'
import { publishTarget } from '../publications/publish-target.ts'
import type { PublisherParts } from '../publications/publisher-parts.ts'
import type { PublicationTarget } from '../publications/repository.ts'
import { entitlementOf } from '../purchases/entitlement-of.ts'
import { listDecidingPurchases } from '../purchases/repository.ts'
import { listReferences, raisePublicationVersion } from './repository.ts'

/** Lets the data plane answer for the customer: who it is, and what each purchase allows, under every reference. */
export async function publishCustomer(
  parts: PublisherParts,
  environment: Environment,
  target: PublicationTarget,
  when: 'pending' | 'always',
): Promise<void> {
  await publishTarget(parts.database.in(environment), target, when, (sql) =>
    writeEntries(parts, environment, target, sql),
  )
}

async function writeEntries(
  parts: PublisherParts,
  environment: Environment,
  { providerId, target: customerRef }: PublicationTarget,
  sql: TransactionSql,
): Promise<void> {
  const version = await raisePublicationVersion(sql, providerId, customerRef)
  if (version === undefined) return
  const references = await listReferences(sql, providerId, customerRef)
  const entitlements = await entitlementsOf(parts, sql, providerId, customerRef, references)
  const known: KnownCustomer = { customerRef }
  // The latest link first: its counters are in place before the entries of the older references name it.
  for (const reference of references.toReversed()) {
    const subject = subjectKey(providerId, reference)
    const partition = partitionOf(subject, parts.partitionCount(environment))
    const at = { space: environment, partition, subject }
    for (const [productRef, entitlement] of entitlements) {
      await parts.hotState.putEntry(
        { ...at, scope: productRef },
        { version, document: JSON.stringify(entitlement), windows: countingWindows(entitlement) },
      )
    }
    // Last, because slots of a known customer are swept early: the purchases above have taken theirs by now.
    const document = JSON.stringify(known)
    await parts.hotState.putEntry({ ...at, scope: '' }, { version, document, windows: [] })
  }
}

async function entitlementsOf(
  parts: PublisherParts,
  sql: TransactionSql,
  providerId: string,
  customerRef: string,
  references: readonly string[],
): Promise<Map<string, Entitlement>> {
  const entitlements = new Map<string, Entitlement>()
  for (const purchase of await listDecidingPurchases(sql, providerId, customerRef)) {
    const entitlement = entitlementOf(purchase, references, parts.now())
    if (entitlement !== undefined) entitlements.set(purchase.productRef, entitlement)
  }
  return entitlements
}
