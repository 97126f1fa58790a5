import type { TransactionSql } from 'postgres'
import type { Window } from '@tollgate/platform/hot-state/hot-state'
import type { WindowMove } from '@tollgate/platform/hot-state/taken-in'
import type { Environment } from '@tollgate/schemas/environment'
import type { Entitlement } from '@tollgate/schemas/hot-state/documents'
import { listPublishedThresholds } from '../auto-recharge/published-thresholds.ts'
import type { BudgetStop } from '../budgets/budget.ts'
import { listBudgetStops } from '../budgets/repository.ts'
import { withBudgetStop } from '../budgets/entitled-stop.ts'
import { countingWindows } from '../entitlements/counting-windows.ts'
import { bucketSpecs } from '../entitlements/entitled-limits.ts'
import { listPackAccounts, type PackAccount } from '../packs/repository.ts'
import { publishTargets, type PublishWhen } from './publish-targets.ts'
import type { PublisherParts } from './publisher-parts.ts'
import type { TargetName } from '../publications/repository.ts'
import { entitlementOf } from '../purchases/entitlement-of.ts'
import { listDecidingPurchases } from '../purchases/repository.ts'
import type { EntitlingPurchase } from '../purchases/purchase-rows.ts'
import { listClockTimes } from '../test-clocks/customer-time.ts'
import { walletEntry } from '../wallet/hot-wallet.ts'
import { removalsHeldMsMax } from '../wallet/hold-credits.ts'
import { listPublishedWallets } from '../wallet/repository.ts'
import { listCurrentReferences, raisePublicationVersions } from '../customers/repository.ts'
import { writeCustomers, type PublishedCustomer } from './write-customers.ts'

/** Publishes customers to the data plane: who they are, and what each purchase allows, under every reference. */
export async function publishCustomers(
  parts: PublisherParts,
  environment: Environment,
  targets: readonly TargetName[],
  when: PublishWhen,
): Promise<void> {
  const pool = parts.database.in(environment)
  await publishTargets(pool, 'customer', targets, when, async (sql, due) => {
    await writeCustomers(parts, environment, await readCustomers(parts, environment, sql, due))
  })
}

async function readCustomers(
  parts: PublisherParts,
  environment: Environment,
  sql: TransactionSql,
  targets: readonly TargetName[],
): Promise<PublishedCustomer[]> {
  const names = targets.map(({ providerId, target }) => ({ providerId, customerRef: target }))
  // The order matters: raising the version locks the rows, so what is read after that belongs to the version.
  const versions = await raisePublicationVersions(sql, names)
  const now = parts.now()
  const removedSince = new Date(now.getTime() - 2 * removalsHeldMsMax)
  // Sent together, and run in this order.
  const [clocks, references, purchases, wallets, thresholds, packs, stops] = await Promise.all([
    listClockTimes(sql, environment, names),
    listCurrentReferences(sql, names),
    listDecidingPurchases(sql, names),
    listPublishedWallets(sql, names, removedSince),
    listPublishedThresholds(sql, names),
    listPackAccounts(sql, names),
    listBudgetStops(sql, names),
  ])
  return names.flatMap(({ providerId, customerRef }) => {
    const version = versions.get(customerRef)
    if (version === undefined) return []
    const known = references.get(customerRef) ?? []
    const held = purchases.get(customerRef) ?? []
    const clock = clocks.get(customerRef)
    const entitlements = entitlementsOf(held, known, clock ?? now, {
      accounts: packs.get(customerRef) ?? [],
      stops: stops.get(customerRef),
    })
    // If a wallet pays for usage, an empty wallet is published explicitly, so that it is not taken for a lost one.
    const pays = entitlements.some(({ entitlement }) => entitlement.credit !== null)
    const sums = wallets.get(customerRef) ?? (pays ? emptyWallet : undefined)
    const rechargeBelowMicros = thresholds.get(customerRef)
    const wallet = sums && walletEntry({ ...sums, rechargeBelowMicros }, sums.removals)
    const onClock = clock === undefined ? {} : { clockMs: clock.getTime() }
    const products = entitlements.map((each) => heldProduct(each, onClock))
    return [
      { providerId, customerRef, version, references: known, held: products, wallet, onClock },
    ]
  })
}

const emptyWallet = { grantedMicros: 0n, removedMicros: 0n, removals: [] }

type HeldEntitlement = {
  readonly productRef: string
  readonly entitlement: Entitlement
  readonly takenIn: readonly WindowMove[]
}

/** What adds to the entitlements of a customer or stops them, for all products. */
type CustomerState = {
  readonly accounts: readonly PackAccount[]
  readonly stops: ReadonlyMap<string, BudgetStop> | undefined
}

function entitlementsOf(
  purchases: readonly EntitlingPurchase[],
  references: readonly string[],
  now: Date,
  { accounts, stops }: CustomerState,
): HeldEntitlement[] {
  return purchases.flatMap((purchase) => {
    const packs = accounts.find((account) => account.productRef === purchase.productRef)
    const compiled = entitlementOf(purchase, references, now, packs)
    if (compiled === undefined) return []
    const { productRef, windowsTakenIn: takenIn } = purchase
    const entitlement = withBudgetStop(compiled, stops?.get(productRef))
    return [{ productRef, entitlement, takenIn }]
  })
}

function heldProduct(
  { productRef, entitlement, takenIn }: HeldEntitlement,
  onClock: Pick<Entitlement, 'clockMs'>,
) {
  const document = JSON.stringify({ ...entitlement, ...onClock })
  const windows: Window[] = countingWindows(entitlement).map((window) => {
    const takesIn = takenIn.filter(({ into }) => into === window.id).map((move) => move.window)
    return takesIn.length === 0 ? window : { ...window, takesIn }
  })
  const buckets = bucketSpecs(entitlement)
  return { productRef, document, windows, ...(buckets.length === 0 ? {} : { buckets }) }
}
