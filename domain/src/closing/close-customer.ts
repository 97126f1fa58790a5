import type { CustomerSettlement } from '@tollgate/schemas/http/customers'
import type { Seller } from '../invoices/parties.ts'
import type { MeasuringParts } from '../billing/measure-usage.ts'
import { settleDuePacks, type SettlingContext } from '../billing/settle-due-packs.ts'
import { deleteCustomer } from '../deletion/delete-customer.ts'
import { findCustomer, lockCustomer } from '../customers/repository.ts'
import { listOpenInvoices } from '../invoices/debts.ts'
import { listPendingItems } from '../invoices/items-repository.ts'
import type { Operation, UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { listPackAccounts } from '../packs/repository.ts'
import { listOpenGrants } from '../wallet/grants.ts'
import type { HoldCredits } from '../wallet/hold-credits.ts'
import type { WalletKey } from '../wallet/hot-wallet.ts'
import type { WalletReading } from '../wallet/read-wallet.ts'
import { findWallet } from '../wallet/repository.ts'
import { billNow, type BillNowParts, type Uncharged } from './bill-now.ts'
import {
  billingDatesAfter,
  isBillingUnchanged,
  listBillable,
  type BillingDates,
} from './billable-purchases.ts'
import { forfeitCredits, writeOffInvoices, writeOffUsage } from './write-off-customer.ts'
import { measureUnbilled, readFinalBills, type UnbilledUsage } from './measure-unbilled.ts'
import {
  boughtCreditsLeft,
  isUnsettled,
  openAmountsOf,
  readOpenInvoices,
  type OpenAmounts,
} from './open-amounts.ts'

export type ClosingParts = BillNowParts & {
  readonly measuring: MeasuringParts
  /** Reads the customer's wallet from the hot state. Returns undefined if only the ledger has it. */
  readonly readWallet: (name: WalletKey) => Promise<WalletReading | undefined>
  readonly holdCredits: HoldCredits
  readonly readSeller: () => Promise<Seller>
}

export type CloseOutcome =
  | { readonly kind: 'deleted' }
  | { readonly kind: 'not-found' }
  /** Nothing was done. The caller must decide how the open amounts are settled. */
  | { readonly kind: 'unsettled'; readonly open: OpenAmounts }
  /** The bills are issued, but these amounts could not be charged. The customer still exists. */
  | { readonly kind: 'uncharged'; readonly uncharged: readonly Uncharged[] }
  /** Another process billed the customer, or sold something to them, during every attempt. */
  | { readonly kind: 'busy' }

/** Upper limit on attempts. Each failed attempt means that another process has succeeded. */
const attemptsMax = 5

/**
 * Deletes a customer once the caller has decided about open invoices, unbilled usage and paid credits: they are billed
 * and charged, or written off. The remaining credits are forfeited in both cases.
 *
 * Order: settles packs up to now, which changes no answer; reads the open amounts and sums up the usage; issues and
 * charges the bills, each in its own transaction; then one transaction writes off, forfeits and deletes, if nothing was billed or bought in the meantime. After a crash
 * before that transaction, the customer exists with issued or paid invoices, and the next call continues from there.
 * After a crash behind it, the customer is deleted, and the next call gives the same answer.
 *
 * Throws UsageBehindError and UsageStoreUnavailableError while usage cannot be summed up.
 */
export async function closeCustomer(
  parts: ClosingParts,
  operation: Operation,
  anyReference: string,
  settle: CustomerSettlement | undefined,
): Promise<CloseOutcome> {
  const { providerId, environment } = operation
  const rows = parts.database.of(providerId).in(environment)
  for (let attempts = 0; attempts < attemptsMax; attempts += 1) {
    const customer = await rows.read((sql) => findCustomer(sql, providerId, anyReference))
    if (customer === undefined) {
      const outcome = await parts.commit(operation, (work) => deleteCustomer(work, anyReference))
      return { kind: outcome === 'not-found' ? 'not-found' : 'deleted' }
    }
    const { reference } = customer
    if (!(await settlePacks(parts, operation, reference))) continue
    const found = await readPosition(parts, operation, reference)
    if (settle === undefined && isUnsettled(found.open)) {
      return { kind: 'unsettled', open: found.open }
    }
    const billed = settle === 'bill_now' ? found.unbilled : []
    if (settle === 'bill_now') {
      const seller = await parts.readSeller()
      const uncharged = await billNow(parts, operation, reference, billed, seller)
      if (uncharged === 'changed') continue
      if (uncharged.length > 0) return { kind: 'uncharged', uncharged }
    }
    const last = { ...found, reference, settle, notes: billingDatesAfter(found.notes, billed) }
    const end = await parts.commit(operation, (work) => endCustomer(work, parts, last))
    if (end === 'deleted') return { kind: 'deleted' }
  }
  return { kind: 'busy' }
}

/**
 * Settles what packs pay for up to now, so that units of packs that have ended or were refunded are neither lost nor used later.
 * Returns false if more is left to settle.
 */
async function settlePacks(
  { database, measuring, commit }: ClosingParts,
  operation: Operation,
  customerRef: string,
): Promise<boolean> {
  const { providerId, environment } = operation
  const rows = database.of(providerId).in(environment)
  const accounts = await rows.read((sql) => listPackAccounts(sql, [{ providerId, customerRef }]))
  const context: SettlingContext = { ...operation, commit: (body) => commit(operation, body) }
  for (const account of accounts.get(customerRef) ?? []) {
    const { left } = await settleDuePacks(measuring, context, account)
    if (left === 'some') return false
  }
  return true
}

type CustomerPosition = {
  readonly open: OpenAmounts
  readonly unbilled: readonly UnbilledUsage[]
  /** The billing dates of each purchase when it was read. */
  readonly notes: BillingDates
  /** All usage that was paid from the wallet, in 10^-6 credits. */
  readonly spentMicros: bigint
}

async function readPosition(
  parts: ClosingParts,
  operation: Operation,
  customerRef: string,
): Promise<CustomerPosition> {
  const { providerId, environment } = operation
  const rows = parts.database.of(providerId).in(environment)
  const hasWallet = await rows.read((sql) => findWallet(sql, providerId, customerRef))
  // A customer without a wallet has no credits in the hot state to read.
  const hot = hasWallet && (await parts.readWallet({ environment, providerId, customerRef }))
  const read = await rows.read(async (sql) => {
    const purchases = await listBillable(sql, providerId, customerRef)
    return {
      purchases,
      bills: await readFinalBills(sql, operation, purchases),
      invoices: await readOpenInvoices(sql, providerId, customerRef),
      wallet: await findWallet(sql, providerId, customerRef),
      grants: await listOpenGrants(sql, providerId, customerRef),
    }
  })
  const { wallet } = read
  const unbilled = await measureUnbilled(parts.measuring, operation, read.bills)
  const postedMicros = wallet === undefined ? 0n : wallet.grantedMicros - wallet.balanceMicros
  const spentMicros = hot?.spentMicros ?? postedMicros
  const bought =
    wallet === undefined
      ? { micros: 0n, values: new Map<string, bigint>() }
      : boughtCreditsLeft(wallet, read.grants, spentMicros)
  const notes = new Map(read.purchases.map((purchase) => [purchase.reference, purchase]))
  return { open: openAmountsOf(read.invoices, unbilled, bought), unbilled, notes, spentMicros }
}

type FinalPosition = CustomerPosition & {
  readonly reference: string
  readonly settle: CustomerSettlement | undefined
}

/** Writes off, forfeits and deletes in one transaction. */
async function endCustomer(
  work: UnitOfWork,
  { holdCredits }: ClosingParts,
  { reference, settle, notes, unbilled, spentMicros }: FinalPosition,
): Promise<'deleted' | 'changed'> {
  const { sql, providerId } = work
  // Transactions that sell to, bill or credit the customer wait for this lock.
  if ((await lockCustomer(sql, providerId, reference)) === undefined) return 'changed'
  if (!(await isBillingUnchanged(sql, providerId, reference, notes))) return 'changed'
  if (settle !== 'write_off') {
    const open = await listOpenInvoices(sql, providerId, reference)
    if (open.length > 0) return 'changed'
    if ((await listPendingItems(sql, providerId, reference)).length > 0) return 'changed'
  }
  if (settle === undefined && (await hasBought(work, reference, spentMicros))) return 'changed'
  if (settle === 'write_off') await writeOffUsage(work, reference, unbilled)
  if (settle !== undefined) await forfeitCredits(work, reference, holdCredits)
  await deleteCustomer(work, reference)
  if (settle === 'write_off') await writeOffInvoices(work, reference)
  return 'deleted'
}

async function hasBought(
  { sql, providerId }: UnitOfWork,
  customerRef: string,
  spentMicros: bigint,
): Promise<boolean> {
  const wallet = await findWallet(sql, providerId, customerRef)
  if (wallet === undefined) return false
  const grants = await listOpenGrants(sql, providerId, customerRef)
  return boughtCreditsLeft(wallet, grants, spentMicros).micros > 0n
}
