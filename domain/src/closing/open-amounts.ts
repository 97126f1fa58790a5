import type { Queryable } from '@tollgate/platform/database/database'
import { listCarried } from '../invoices/carried-amounts.ts'
import { listOpenInvoices } from '../invoices/debts.ts'
import type { Invoice } from '../invoices/invoice.ts'
import { listPendingItems, type InvoiceItem } from '../invoices/items-repository.ts'
import { findInvoice } from '../invoices/repository.ts'
import { dueMinor } from '../invoices/transitions.ts'
import { priceLine } from '../pricing/price-line.ts'
import { assignInFlight } from '../wallet/burn-order.ts'
import { valueEntries } from '../wallet/credit-value.ts'
import type { CreditGrant } from '../wallet/grants.ts'
import type { Wallet } from '../wallet/repository.ts'
import type { UnbilledUsage } from './measure-unbilled.ts'

/** Open amounts between a customer and the provider in one currency. Minor units. */
export type OpenAmount = {
  readonly currency: string
  /** Issued and not paid. */
  readonly openInvoicesMinor: bigint
  /** Carried over to the next invoice because it was too small to be charged. Negative for a credit of the customer. */
  readonly carriedMinor: bigint
  /** Usage and added items that are not invoiced yet, without tax. */
  readonly unbilledUsageMinor: bigint
  /** Price paid for the remaining credits, without tax. */
  readonly boughtCreditsMinor: bigint
}

export type OpenAmounts = {
  readonly amounts: readonly OpenAmount[]
  readonly invoiceRefs: readonly string[]
  /** Remaining credits that were paid for, in 10^-6 credits. */
  readonly boughtMicros: bigint
}

export type OpenInvoices = {
  readonly invoices: readonly Invoice[]
  readonly carried: ReadonlyMap<string, bigint>
  readonly items: readonly InvoiceItem[]
}

export async function readOpenInvoices(
  sql: Queryable,
  providerId: string,
  customerRef: string,
): Promise<OpenInvoices> {
  const invoices: Invoice[] = []
  for (const reference of await listOpenInvoices(sql, providerId, customerRef)) {
    const invoice = await findInvoice(sql, providerId, reference)
    if (invoice !== undefined) invoices.push(invoice)
  }
  return {
    invoices,
    carried: await listCarried(sql, providerId, customerRef),
    items: await listPendingItems(sql, providerId, customerRef),
  }
}

export type BoughtCredits = {
  readonly micros: bigint
  /** Price paid for the credits in minor units, keyed by currency. */
  readonly values: ReadonlyMap<string, bigint>
}

/**
 * Returns the credits that were paid for and not used. `spentMicros` is all usage in 10^-6 credits, including usage
 * that is not posted yet.
 */
export function boughtCreditsLeft(
  wallet: Wallet,
  grants: readonly CreditGrant[],
  spentMicros: bigint,
): BoughtCredits {
  const inFlight = spentMicros - (wallet.grantedMicros - wallet.balanceMicros)
  const free = assignInFlight(grants, inFlight > 0n ? inFlight : 0n)
    .filter(({ paid }) => paid !== null && paid.amountMinor > 0n)
    .map((grant) => ({ grant, micros: grant.remainingMicros - grant.inFlightMicros }))
    .filter(({ micros }) => micros > 0n)
  const burns = free.map(({ grant, micros }) => ({ grantRef: grant.reference, micros }))
  const values = valueEntries(grants, burns, 'breakage')
    .filter(({ account }) => account === 'prepaid')
    .map(({ currency, amountMinor }) => [currency, amountMinor] as const)
  const micros = burns.reduce((sum, burn) => sum + burn.micros, 0n)
  return { micros, values: new Map(values) }
}

export function openAmountsOf(
  { invoices, carried, items }: OpenInvoices,
  unbilled: readonly UnbilledUsage[],
  bought: BoughtCredits,
): OpenAmounts {
  const open = new Map<string, OpenAmount>()
  const add = (currency: string, field: keyof Omit<OpenAmount, 'currency'>, minor: bigint) => {
    const known = open.get(currency) ?? zeroAmounts(currency)
    open.set(currency, { ...known, [field]: known[field] + minor })
  }
  for (const invoice of invoices) add(invoice.currency, 'openInvoicesMinor', dueMinor(invoice))
  for (const [currency, minor] of carried) add(currency, 'carriedMinor', minor)
  for (const { toBill, amountMinor } of unbilled) {
    add(toBill.purchase.currency, 'unbilledUsageMinor', amountMinor)
  }
  for (const { currency, inputs } of items) {
    add(currency, 'unbilledUsageMinor', priceLine(inputs).amountMinor)
  }
  for (const [currency, minor] of bought.values) add(currency, 'boughtCreditsMinor', minor)
  return {
    amounts: [...open.values()].sort((one, other) => (one.currency < other.currency ? -1 : 1)),
    invoiceRefs: invoices.map(({ reference }) => reference),
    boughtMicros: bought.micros,
  }
}

function zeroAmounts(currency: string): OpenAmount {
  const none = { openInvoicesMinor: 0n, carriedMinor: 0n }
  return { currency, ...none, unbilledUsageMinor: 0n, boughtCreditsMinor: 0n }
}

/**
 * Returns whether the caller must decide how the amounts are settled. A carried credit does not count, because no later
 * invoice can use it.
 */
export function isUnsettled({ amounts, boughtMicros }: OpenAmounts): boolean {
  const isOwed = amounts.some(
    ({ openInvoicesMinor, carriedMinor, unbilledUsageMinor }) =>
      openInvoicesMinor > 0n || carriedMinor > 0n || unbilledUsageMinor > 0n,
  )
  return isOwed || boughtMicros > 0n
}
