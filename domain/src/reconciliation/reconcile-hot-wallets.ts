import type { Queryable } from '@tollgate/platform/database/database'
import { walletSeries, walletWindow } from '@tollgate/schemas/hot-state/wallets'
import { decimalFromMicros } from '@tollgate/schemas/quantity'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import { selectKeys, type CustomerKey } from '../customers/repository.ts'
import { UsageBehindError } from '../entitlements/usage-behind-error.ts'
import { sumCountedDebits } from '../stored-usage/sum-counted-usage.ts'
import { readPublishedSums, walletAddress, type WalletSums } from '../wallet/hot-wallet.ts'
import {
  listUnpublished,
  createRechecker,
  waitUntilAllCounted,
  waitUntilAllStored,
  type CountingParts,
  type CountingRun,
} from './counting-parts.ts'
import type { Repair, Tally } from './finding.ts'
import type { Scope } from './scope.ts'

/**
 * Maximum number of wallets of one provider that are checked together. Their references are part of the URL of a query, so it must
 * not grow too long.
 */
const walletsAtOnce = 200

/** Amounts in 10^-6 credits. */
type LedgerWallet = CustomerKey &
  WalletSums & {
    /** Usage posted in the ledger. */
    readonly postedMicros: bigint
    /** Offset up to which usage of the wallet's log partition is posted, read at the same moment. */
    readonly postedTo: number
  }

type ComparedWallet = CustomerKey & {
  readonly kept: LedgerWallet
  /** Whether a publication of the wallet is queued. */
  readonly isUnpublished: boolean
  /** The published sums, and counted usage. */
  readonly hot: WalletSums & { readonly spentMicros: bigint; readonly partition: number }
  /** Usage by the records, up to the offset of the counters and up to the offset of the postings. */
  readonly recorded: { readonly countedMicros: bigint; readonly postedMicros: bigint }
}

/**
 * Compares wallets with hot state, and both with the debits in the records. Hot state and the ledger follow the records at offsets
 * of their own, so each is compared with the records before its offset. Recent additions and removals are published a moment later,
 * so differences are checked again. While a publication is queued, the published sums are not compared. Throws UsageBehindError.
 */
export async function reconcileHotWallets(
  sql: Queryable,
  parts: CountingParts,
  scope: Scope,
  findingsMax: number,
  tally: Tally,
): Promise<void> {
  const countedTo = await waitUntilAllCounted(parts, scope.environment)
  const run: CountingRun = { sql, parts, scope, countedTo }
  const recheck = createRechecker(findingsMax, parts.recheckPauseMs)
  let after: CustomerKey = { providerId: scope.providerId ?? '', customerRef: '' }
  for (;;) {
    scope.stopping?.throwIfAborted()
    const names = await listWalletPage(sql, scope, after)
    if (names.length === 0) return
    const compared = await readWallets(run, names)
    const remaining = await recheck(compared.filter(differs), async (suspects) =>
      (await readWallets(run, suspects)).filter(differs),
    )
    for (const each of remaining) reportWallet(tally, each, parts.now())
    after = names.at(-1)!
  }
}

function differs(compared: ComparedWallet): boolean {
  return comparisonsOf(compared).some(({ ours, theirs }) => ours !== theirs)
}

/** Amounts in 10^-6 credits. */
type Comparison = {
  readonly what: string
  readonly ours: bigint
  readonly theirs: bigint
  /** The rebuild that fixes the difference; absent if a person has to decide. */
  readonly repair?: Repair['kind']
}

function comparisonsOf({ kept, isUnpublished, hot, recorded }: ComparedWallet): Comparison[] {
  const published: Comparison[] = [
    { what: 'put in', ours: kept.grantedMicros, theirs: hot.grantedMicros, repair: 'published' },
    { what: 'taken out', ours: kept.removedMicros, theirs: hot.removedMicros, repair: 'published' },
  ]
  return [
    ...(isUnpublished ? [] : published),
    { what: 'spent and posted', ours: kept.postedMicros, theirs: recorded.postedMicros },
    {
      what: 'spent by the hot state',
      ours: hot.spentMicros,
      theirs: recorded.countedMicros,
      repair: 'counts',
    },
  ]
}

function reportWallet(tally: Tally, compared: ComparedWallet, since: Date): void {
  const { providerId, customerRef, hot } = compared
  for (const { what, ours, theirs, repair } of comparisonsOf(compared)) {
    if (ours === theirs) continue
    tally.found({
      providerId,
      kind: 'wallet',
      difference: 'differs',
      reference: customerRef,
      ours: `${what} ${decimalFromMicros(ours)}`,
      theirs: decimalFromMicros(theirs),
      since,
      isRepaired: false,
    })
    // If the ledger has debits whose records are lost, counts rebuilt from the remaining records would give these debits back.
    if (repair === undefined) tally.mustNotRepair({ kind: 'counts', partition: hot.partition })
    if (repair === 'counts') tally.canRepair({ kind: repair, partition: hot.partition })
    if (repair === 'published') tally.canRepair({ kind: repair, providerId, customerRef })
  }
}

/** Returns a page of wallets of active customers, all of one provider. */
async function listWalletPage(
  sql: Queryable,
  { providerId }: Scope,
  after: CustomerKey,
): Promise<CustomerKey[]> {
  const rows = await sql<{ provider_id: string; customer_ref: string }[]>`
    select provider_id, customer_ref from wallets
    where (provider_id, customer_ref) > (${after.providerId}, ${after.customerRef})
      ${providerId === undefined ? sql`` : sql`and provider_id = ${providerId}`}
      and exists (
        select from customers
        where customers.provider_id = wallets.provider_id and reference = customer_ref
          and status = 'active')
    order by provider_id, customer_ref limit ${walletsAtOnce}`
  return rows
    .filter(({ provider_id }) => provider_id === rows[0]!.provider_id)
    .map((row) => ({ providerId: row.provider_id, customerRef: row.customer_ref }))
}

/** Reads wallets of one provider from the database, hot state and the records. */
async function readWallets(
  run: CountingRun,
  names: readonly CustomerKey[],
): Promise<ComparedWallet[]> {
  const { parts, scope } = run
  const [kept, unpublished] = await Promise.all([
    listLedgerWallets(run, names),
    listUnpublished(run.sql, names),
  ])
  const hot = await Promise.all(kept.map((wallet) => readHotWallet(run, wallet)))
  // This runs after both were read, so that all records before their offsets are stored.
  const stored = await waitUntilAllStored(parts, scope.environment)
  const recorded = await sumCountedDebits(
    parts.usageStore,
    { environment: scope.environment, providerId: names[0]!.providerId },
    kept.map(({ customerRef, postedTo }, at) => {
      return { customerRef, beforeOffset: hot[at]!.countedTo, beforePosted: postedTo }
    }),
    stored,
  )
  return kept.map((wallet, at) => {
    const { providerId, customerRef } = wallet
    const isUnpublished = unpublished.has(customerRef)
    const sides = { kept: wallet, hot: hot[at]!, recorded: recorded[at]! }
    return { providerId, customerRef, isUnpublished, ...sides }
  })
}

type LedgerRow = {
  provider_id: string
  customer_ref: string
  granted_micros: string
  removed_micros: string
  posted_micros: string
}

/** Reads all values in one statement, and so at one moment: a posting changes the wallet, its entries and the position together. */
async function listLedgerWallets(
  { sql, parts, scope }: CountingRun,
  names: readonly CustomerKey[],
): Promise<LedgerWallet[]> {
  const rows = await sql<(LedgerRow & { positions: Record<string, number> | null })[]>`
    select provider_id, customer_ref, granted_micros, removed_micros,
      (
        select coalesce(sum(amount), 0) from ledger_entries
        where ledger_entries.provider_id = wallets.provider_id
          and ledger_entries.customer_ref = wallets.customer_ref
          and account = 'used' and unit = 'credits'
      ) as posted_micros,
      (select jsonb_object_agg(log_partition, next_offset) from debit_positions) as positions
    from wallets where (provider_id, customer_ref) in (${selectKeys(sql, names)})`
  const partitionCount = parts.eventLog.partitionCount(usageTopic(scope.environment))
  return rows.map((row) => {
    const { provider_id: providerId, customer_ref: customerRef } = row
    const partition = partitionOf(subjectKey(providerId, customerRef), partitionCount)
    return {
      providerId,
      customerRef,
      grantedMicros: BigInt(row.granted_micros),
      removedMicros: BigInt(row.removed_micros),
      postedMicros: BigInt(row.posted_micros),
      postedTo: row.positions?.[String(partition)] ?? 0,
    }
  })
}

/** Reads the wallet in hot state atomically, with its offset in the log. */
async function readHotWallet(
  { parts: { eventLog, hotState }, scope: { environment }, countedTo }: CountingRun,
  { providerId, customerRef }: CustomerKey,
): Promise<ComparedWallet['hot'] & { readonly countedTo: number }> {
  const partitionCount = eventLog.partitionCount(usageTopic(environment))
  const at = walletAddress({ environment, providerId, customerRef }, partitionCount)
  const { document, amounts, appliedOffset } = await hotState.readEntry(at, walletSeries)
  const behind = countedTo[at.partition]! - appliedOffset
  const sums = await readPublishedSums({ hotState }, at, document)
  if (behind > 0 || sums === undefined) throw new UsageBehindError(Math.max(behind, 0))
  const { partition } = at
  const spentMicros = amounts.get(walletWindow.id) ?? 0n
  return { ...sums, partition, spentMicros, countedTo: appliedOffset }
}
