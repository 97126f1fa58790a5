import type { CustomerName } from '@tollgate/domain/customers/customer-name'
import type { Customer } from '@tollgate/domain/customers/repository'
import {
  findCustomerWithSources,
  listUsageSources,
  type UsageSources,
} from '@tollgate/domain/customers/usage-sources'
import { findExchangeRate } from '@tollgate/domain/money/exchange-rates'
import { listPackAccounts, type PackAccount } from '@tollgate/domain/packs/repository'
import type { CreditConversion } from '@tollgate/domain/pricing/line-inputs'
import {
  listPurchases,
  statusesWithAccess,
  type Purchase,
  type PurchaseFilter,
} from '@tollgate/domain/purchases/repository'
import type { Queryable } from '@tollgate/platform/database/database'
import type { Caller } from '../access/caller.ts'

/** Data that is needed to show usage and its cost. */
export type UsageContext = {
  /** Sources of usage, by the customer's own reference. */
  readonly sources: ReadonlyMap<string, UsageSources>
  /** Accounts of packs, by the customer's own reference. */
  readonly accounts: ReadonlyMap<string, readonly PackAccount[]>
  /** Conversions by currency, for currencies with a known rate. */
  readonly conversions: ReadonlyMap<string, CreditConversion>
}

export type LoadedPurchases = UsageContext & { readonly purchases: readonly Purchase[] }

type Limits = { readonly limits: { readonly purchasesMax: number } }

/** Filter for a customer's purchases that may give access. */
export const accessFilter: Partial<PurchaseFilter> = { statuses: statusesWithAccess }

/**
 * Loads purchases with the data to show their usage. If the filter names the customer, the statements are sent together and take one
 * round trip.
 */
export async function loadPurchases(
  { limits }: Limits,
  sql: Queryable,
  { providerId }: Caller,
  filter: Partial<PurchaseFilter>,
): Promise<LoadedPurchases> {
  const listing = listPurchases(sql, providerId, { rowsMax: limits.purchasesMax, ...filter })
  if (filter.customerRef !== undefined) {
    const [purchases, sources] = await Promise.all([
      listing,
      listUsageSources(sql, providerId, [filter.customerRef]),
    ])
    return addContext(sql, providerId, purchases, sources)
  }
  const purchases = await listing
  const customers = purchases.map((purchase) => purchase.customerRef)
  const sources = await listUsageSources(sql, providerId, customers)
  return addContext(sql, providerId, purchases, sources)
}

/**
 * Finds the active customer and loads its purchases. The statements are sent together and take one round trip. Returns undefined if
 * there is no such customer.
 */
export async function loadCustomerPurchases(
  { limits }: Limits,
  sql: Queryable,
  { providerId }: Caller,
  name: CustomerName,
  filter: Partial<PurchaseFilter>,
): Promise<{ customer: Customer; loaded: LoadedPurchases } | undefined> {
  const listed = { rowsMax: limits.purchasesMax, ...filter, customer: name }
  const [found, purchases] = await Promise.all([
    findCustomerWithSources(sql, providerId, name),
    listPurchases(sql, providerId, listed),
  ])
  if (found === undefined) return undefined
  const { customer, sources } = found
  // Between the two statements, another change may have given the name to another customer.
  const own = purchases.filter(({ customerRef }) => customerRef === customer.reference)
  const sourcesByCustomer = new Map([[customer.reference, sources]])
  return { customer, loaded: await addContext(sql, providerId, own, sourcesByCustomer) }
}

/** Loads the data to show the usage of one purchase. */
export async function loadUsageContext(
  sql: Queryable,
  { providerId }: Caller,
  purchase: Purchase,
): Promise<UsageContext> {
  const sources = await listUsageSources(sql, providerId, [purchase.customerRef])
  return addContext(sql, providerId, [purchase], sources)
}

/** Adds accounts of packs and exchange rates. Most customers have neither packs nor another currency, which costs no statement. */
async function addContext(
  sql: Queryable,
  providerId: string,
  purchases: readonly Purchase[],
  sources: ReadonlyMap<string, UsageSources>,
): Promise<LoadedPurchases> {
  const withPacks = [...sources].filter(([, { hasPacks }]) => hasPacks)
  const [accounts, conversions] = await Promise.all([
    withPacks.length === 0
      ? new Map<string, PackAccount[]>()
      : listPackAccounts(
          sql,
          withPacks.map(([customerRef]) => ({ providerId, customerRef })),
        ),
    conversionsOf(sql, providerId, purchases),
  ])
  return { purchases, sources, accounts, conversions }
}

/** Returns the conversions that an invoice would use now. */
async function conversionsOf(
  sql: Queryable,
  providerId: string,
  purchases: readonly Purchase[],
): Promise<Map<string, CreditConversion>> {
  const conversions = new Map<string, CreditConversion>()
  for (const currency of new Set(purchases.map((purchase) => purchase.currency))) {
    const rate = await findExchangeRate(sql, providerId, currency)
    if (rate === undefined) continue
    conversions.set(currency, { currency, unitsPerDollar: rate.unitsPerDollar })
  }
  return conversions
}
