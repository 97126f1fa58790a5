import type { TransactionSql } from 'postgres'
import type { Environment } from '@tollgate/schemas/environment'
import type { Entitlement } from '@tollgate/schemas/hot-state/documents'
import { countingWindows } from '../entitlements/counting-windows.ts'
import { publishTargets, type PublishWhen } from '../publications/publish-targets.ts'
import type { PublisherParts } from '../publications/publisher-parts.ts'
import type { TargetName } from '../publications/repository.ts'
import { entitlementOf } from '../purchases/entitlement-of.ts'
import { listDecidingPurchases, type EntitlingPurchase } from '../purchases/repository.ts'
import { walletEntry } from '../wallet/hot-wallet.ts'
import { removalsHeldMsMax } from '../wallet/hold-credits.ts'
import { listPublishedWallets } from '../wallet/repository.ts'
import { listReferencesOf, raisePublicationVersions } from './repository.ts'
import { writeCustomers, type PublishedCustomer } from './write-customers.ts'

/** Lets the data plane answer for the customers: who they are, and what each purchase allows, under every reference. */
export async function publishCustomers(
  parts: PublisherParts,
  environment: Environment,
  targets: readonly TargetName[],
  when: PublishWhen,
): Promise<void> {
  const pool = parts.database.in(environment)
  await publishTargets(pool, 'customer', targets, when, async (sql, due) => {
    await writeCustomers(parts, environment, await readCustomers(parts, sql, due))
  })
}

async function readCustomers(
  parts: PublisherParts,
  sql: TransactionSql,
  targets: readonly TargetName[],
): Promise<PublishedCustomer[]> {
  const names = targets.map(({ providerId, target }) => ({ providerId, customerRef: target }))
  // In this order: the rows that are raised are locked, and what is read after that is what the version stands for.
  const versions = await raisePublicationVersions(sql, names)
  const now = parts.now()
  const removedSince = new Date(now.getTime() - 2 * removalsHeldMsMax)
  // All at once, in the order in which they are sent.
  const [references, purchases, wallets] = await Promise.all([
    listReferencesOf(sql, names),
    listDecidingPurchases(sql, names),
    listPublishedWallets(sql, names, removedSince),
  ])
  return names.flatMap(({ providerId, customerRef }) => {
    const version = versions.get(customerRef)
    if (version === undefined) return []
    const known = references.get(customerRef) ?? []
    const entitlements = entitlementsOf(purchases.get(customerRef) ?? [], known, now)
    // An empty wallet is said to be empty where one has to pay, so that nobody takes it for a lost one.
    const pays = entitlements.some(({ entitlement }) => entitlement.credit !== null)
    const sums = wallets.get(customerRef) ?? (pays ? emptyWallet : undefined)
    const wallet = sums === undefined ? undefined : walletEntry(sums, sums.removals)
    const held = entitlements.map(heldProduct)
    return [{ providerId, customerRef, version, references: known, held, wallet }]
  })
}

const emptyWallet = { grantedMicros: 0n, removedMicros: 0n, removals: [] }

type HeldEntitlement = { readonly productRef: string; readonly entitlement: Entitlement }

function entitlementsOf(
  purchases: readonly EntitlingPurchase[],
  references: readonly string[],
  now: Date,
): HeldEntitlement[] {
  return purchases.flatMap((purchase) => {
    const entitlement = entitlementOf(purchase, references, now)
    return entitlement === undefined ? [] : [{ productRef: purchase.productRef, entitlement }]
  })
}

function heldProduct({ productRef, entitlement }: HeldEntitlement) {
  const document = JSON.stringify(entitlement)
  return { productRef, document, windows: countingWindows(entitlement) }
}
