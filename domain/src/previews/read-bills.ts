import type { UsageDelays } from '../billing/decide-usage-bill.ts'
import { readUsageToBill, type UsageToBill } from '../billing/prepare-usage-bill.ts'
import { findCard } from '../cards/repository.ts'
import { listUsingPurchases } from '../billing/settle-packs.ts'
import { listCurrentReferences, type Customer } from '../customers/repository.ts'
import { listBilledPeriods, type BilledPeriod } from '../invoices/billed-periods.ts'
import { findExchangeRate, type ExchangeRate } from '../money/exchange-rates.ts'
import { listOpenClaims } from '../packs/claims-repository.ts'
import { findPackAccount } from '../packs/repository.ts'
import type { Purchase } from '../purchases/repository.ts'
import { planBills, type RenewalOf, type UsageBillAhead } from './plan-bills.ts'
import type { PacksAhead } from './settle-ahead.ts'
import type { ReadingAt } from '../unit-of-work/unit-of-work.ts'

/** A purchase whose next bills are previewed. It may differ from the stored one, or not be stored. */
export type PurchaseAhead = {
  readonly purchase: Purchase
  /** Set for a purchase that is not stored. */
  readonly unstored?: {
    /** A stored purchase of the same product, by which tax is found. */
    readonly taxedAsRef: string
    /** End of the purchase that it replaces. */
    readonly endOfPrevious: Date | undefined
  }
}

export type BillToPreview = { readonly bill: UsageBillAhead; readonly toBill: UsageToBill }

/** Everything that decides about the next bills of a purchase, except its usage and the tax. */
export type BillsToPreview = {
  readonly purchase: Purchase
  /** False if the purchase does not exist yet. */
  readonly isStored: boolean
  readonly taxedAsRef: string
  readonly usage: readonly BillToPreview[]
  readonly renewals: readonly RenewalOf[]
  /** The newest period whose price was invoiced. */
  readonly newestInvoiced: BilledPeriod | undefined
  readonly rate: ExchangeRate
}

/** What is read for a preview before usage is summed up. */
export type ReadBills = {
  readonly bills: readonly BillsToPreview[]
  readonly packs: PacksAhead | undefined
  readonly customerRefs: readonly string[]
}

/** Reads the next bills of the purchases. All of them are of one customer and product. */
export async function readBills(
  at: ReadingAt,
  { reference: customerRef }: Pick<Customer, 'reference'>,
  purchases: readonly PurchaseAhead[],
  delays: UsageDelays,
): Promise<ReadBills> {
  const { sql, providerId } = at
  const card = await findCard(sql, providerId, customerRef)
  const references = await listCurrentReferences(sql, [{ providerId, customerRef }])
  const bills: BillsToPreview[] = []
  for (const ahead of purchases) {
    bills.push(await readBillsOf(at, ahead, delays, card?.reusable === true))
  }
  return {
    bills,
    packs: await readPacks(at, customerRef, purchases),
    customerRefs: references.get(customerRef) ?? [customerRef],
  }
}

async function readBillsOf(
  { sql, providerId, now }: ReadingAt,
  { purchase, unstored }: PurchaseAhead,
  delays: UsageDelays,
  hasCard: boolean,
): Promise<BillsToPreview> {
  const { reference, currency } = purchase
  const { usage, renewals } = planBills(purchase, now, delays, hasCard)
  const read: BillToPreview[] = []
  for (const bill of usage) {
    const toBill = await readUsageToBill({ sql, providerId }, bill, delays.lateMs)
    const endOfPrevious = unstored?.endOfPrevious ?? toBill.endOfPrevious
    read.push({ bill, toBill: { ...toBill, endOfPrevious } })
  }
  const [newestInvoiced] = await listBilledPeriods(sql, providerId, reference, 'recurring', 1)
  const rate = await findExchangeRate(sql, providerId, currency)
  if (rate === undefined) throw new Error(`there is no exchange rate for ${currency}`)
  const { taxedAsRef } = unstored ?? { taxedAsRef: reference }
  const isStored = unstored === undefined
  return { purchase, isStored, taxedAsRef, usage: read, renewals, newestInvoiced, rate }
}

/** Returns undefined if the customer has no packs of the product. */
async function readPacks(
  { sql, providerId }: ReadingAt,
  customerRef: string,
  ahead: readonly PurchaseAhead[],
): Promise<PacksAhead | undefined> {
  const [first] = ahead
  if (first === undefined) return undefined
  const name = { customerRef, productRef: first.purchase.productRef }
  const account = await findPackAccount(sql, providerId, name)
  if (account === undefined) return undefined
  const known = new Set(ahead.map(({ purchase }) => purchase.reference))
  const stored = await listUsingPurchases(sql, providerId, name)
  return {
    account,
    claims: await listOpenClaims(sql, providerId, name),
    purchases: [
      ...ahead.map(({ purchase }) => purchase),
      ...stored.filter(({ reference }) => !known.has(reference)),
    ],
  }
}
