import type { Queryable } from '@tollgate/platform/database/database'
import { findCustomer } from '../customers/repository.ts'
import { listBilledPeriods, type PeriodClaim } from '../invoices/billed-periods.ts'
import type { InvoiceWithLines } from '../invoices/invoice.ts'
import { issueInvoice } from '../invoices/issue-invoice.ts'
import { createDraft } from '../invoices/create-draft.ts'
import { staysDraft } from '../invoices/stays-draft.ts'
import { findExchangeRate } from '../money/exchange-rates.ts'
import { payByPacks } from './pay-by-packs.ts'
import { lockPackAccount, recordDraws } from '../packs/repository.ts'
import { unixSeconds } from '../periods/periods.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { recurringLines } from '../pricing/charges.ts'
import type { ChargedPeriod, InvoiceLine } from '../pricing/invoice-line.ts'
import type { CreditConversion } from '../pricing/line-inputs.ts'
import { splitCharges } from '../pricing/split-charges.ts'
import { decideDueRenewal } from '../purchases/decide-renewal.ts'
import { lockPurchase, type Purchase } from '../purchases/repository.ts'
import { updateUsageBilling } from '../purchases/purchase-fields-repository.ts'
import { queuePublication, recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { readParties, type Seller } from '../invoices/parties.ts'
import type { UsageToBill } from './prepare-usage-bill.ts'
import { usageBillLines, type ChargeUsage, type UsageToPrice } from './usage-lines.ts'

export type UsageBillOutcome =
  | { readonly kind: 'invoiced'; readonly invoice: InvoiceWithLines }
  /** There was nothing to charge. The purchase's billing dates were updated. */
  | { readonly kind: 'noted' }
  /** The purchase has changed since its usage was summed up. Nothing was written. */
  | { readonly kind: 'changed' }

/**
 * Issues the invoice for usage that was summed up, and updates the purchase's billing dates (`billingDates`) in the same
 * transaction, so that billed usage is not due again. `alone` bills the usage without the price of the next period. The
 * data that was read before the lock is valid as long as the billing dates are unchanged, because every bill moves
 * them.
 */
export async function billUsage(
  work: UnitOfWork,
  { purchase: before, period, billingDates }: UsageToBill,
  measured: UsageToPrice,
  seller: Seller,
  withRenewal: 'with renewal' | 'alone' = 'with renewal',
): Promise<UsageBillOutcome> {
  const { sql, providerId } = work
  const purchase = await lockPurchase(sql, providerId, before.reference)
  if (purchase === undefined || !isUnchanged(purchase, before)) return { kind: 'changed' }
  // A customer who was deleted in the meantime is not billed, not even for periods that had ended before.
  if ((await findCustomer(sql, providerId, purchase.customerRef)) === undefined) {
    return { kind: 'changed' }
  }
  const { reference, customerRef, currency, planSnapshot, productRef } = purchase
  if (planSnapshot === null) throw new Error(`purchase ${reference} has no plan to charge for`)
  await updateUsageBilling(sql, providerId, { reference, ...billingDates })
  const usage = usageBillLines(
    purchase,
    planSnapshot,
    await readCreditConversion(work, currency),
    await drawFromPacks(work, purchase, planSnapshot, measured),
  )
  if (usage.length === 0 || isSuspendedWithoutUsage(purchase, measured)) return { kind: 'noted' }
  const renewal =
    withRenewal === 'alone'
      ? undefined
      : period && (await findCombinedRenewal(work, purchase, period))
  const groups = splitCharges(
    { recurring: renewal?.lines ?? [], usage },
    renewal === undefined ? undefined : 'combined',
  )
  const claims: PeriodClaim[] = [
    ...(renewal === undefined ? [] : [{ part: 'recurring', period: renewal.period } as const]),
    ...(period === undefined ? [] : [{ part: 'usage', period } as const]),
  ]
  const lines = groups.flatMap((group) => group.lines)
  const purchaseRef = reference
  const isDraft = await staysDraft(work, { customerRef, currency }, lines)
  const request = { customerRef, purchaseRef, planSnapshot, currency, lines, claims }
  const made = await createDraft(work, { ...request, staysDraft: isDraft })
  if (made.kind !== 'created')
    throw new Error(`a due period of purchase ${reference} is billed already`)
  if (isDraft) return { kind: 'noted' }
  const parties = await readParties(work, customerRef, productRef, seller)
  const invoice = await issueInvoice(work, made.invoice, parties)
  for (const line of usage) await emitUsageCharged(work, purchase, invoice.reference, line)
  return { kind: 'invoiced', invoice }
}

/** Returns the usage with the units that packs pay for. Locks the packs, so that no other process uses the same units. */
async function drawFromPacks(
  work: UnitOfWork,
  purchase: Purchase,
  plan: PlanSnapshot,
  measured: UsageToPrice,
): Promise<UsageToPrice> {
  const { sql, providerId } = work
  const account = await lockPackAccount(sql, providerId, purchase)
  if (account === undefined) return measured
  const { usage, draws } = payByPacks(account, purchase, plan, measured)
  if (draws.length === 0) return usage
  await recordDraws(sql, providerId, draws)
  await queuePublication(work, 'customer', purchase.customerRef)
  return usage
}

function isUnchanged(one: Purchase, other: Purchase): boolean {
  return (
    one.status === other.status &&
    isSameTime(one.nextUsageBillAt, other.nextUsageBillAt) &&
    isSameTime(one.usageClosesAt, other.usageClosesAt) &&
    isSameTime(one.endedAt, other.endedAt) &&
    isSameTime(one.endDate, other.endDate)
  )
}

function isSameTime(one: Date | null, other: Date | null): boolean {
  return one?.getTime() === other?.getTime()
}

/**
 * Returns whether a suspended purchase had no usage to bill. Suspended purchases continue to have periods, and a period
 * without usage gets no invoice.
 */
function isSuspendedWithoutUsage({ status }: Purchase, measured: UsageToPrice): boolean {
  return status === 'suspended' && measured.every(hasNoUsage)
}

function hasNoUsage({ current, earlier }: ChargeUsage): boolean {
  const hasLate = earlier.some(
    ({ usedMicros, usedBeforeMicros, billed }) =>
      usedMicros !== billed.usedMicros || usedBeforeMicros !== billed.usedBeforeMicros,
  )
  return current?.usedMicros === 0n && !hasLate
}

export async function readCreditConversion(
  { sql, providerId }: { readonly sql: Queryable; readonly providerId: string },
  currency: string,
): Promise<CreditConversion> {
  const rate = await findExchangeRate(sql, providerId, currency)
  if (rate === undefined) throw new Error(`there is no exchange rate for ${currency}`)
  return { currency, unitsPerDollar: rate.unitsPerDollar }
}

type RenewalPart = { readonly lines: readonly InvoiceLine[]; readonly period: ChargedPeriod }

/** Returns the price of the next period if it belongs on the same invoice, otherwise undefined. */
async function findCombinedRenewal(
  { sql, providerId, now }: UnitOfWork,
  purchase: Purchase,
  { end }: ChargedPeriod,
): Promise<RenewalPart | undefined> {
  const { reference, planSnapshot, currency } = purchase
  if (planSnapshot?.terms.billingStrategy !== 'combined') return undefined
  const renewal = decideDueRenewal(purchase, now)
  if (renewal.kind !== 'charge' || renewal.period.start.getTime() !== end.getTime())
    return undefined
  const { start } = renewal.period
  const [invoiced] = await listBilledPeriods(sql, providerId, reference, 'recurring', 1)
  if (invoiced !== undefined && invoiced.start >= start) return undefined
  const period = { start, end: renewal.period.end }
  const lines = recurringLines(planSnapshot, currency, renewal.period, renewal.isFirstCharge)
  return { lines, period }
}

async function emitUsageCharged(
  work: UnitOfWork,
  { customerRef, productRef, reference: purchaseRef, currency }: Purchase,
  invoiceRef: string,
  { inputs, amountMinor, period }: InvoiceLine,
): Promise<void> {
  if (inputs.kind !== 'usage' && inputs.kind !== 'late_usage') return
  if (amountMinor === 0n || period === null) return
  const quantity = inputs.kind === 'usage' ? inputs.usedUnits : inputs.lateUnits
  await recordEvent(work, 'usage.charged', {
    reference: invoiceRef,
    customer: customerRef,
    product: productRef,
    purchase: purchaseRef,
    quantity: Number(quantity),
    amount: Number(amountMinor),
    currency: currency.toLowerCase(),
    meterName: inputs.reading.meterName,
    ...(inputs.charge === undefined ? {} : { charge: inputs.charge }),
    periodStart: unixSeconds(period.start),
    periodEnd: unixSeconds(period.end),
    created: unixSeconds(work.now),
  })
}
