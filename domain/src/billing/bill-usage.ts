import { findCustomer } from '../customers/repository.ts'
import {
  continueUsagePeriod,
  extendUsagePeriod,
  listBilledPeriods,
} from '../invoices/billed-periods.ts'
import { listBilledUsage } from '../invoices/billed-usage.ts'
import type { InvoiceWithLines } from '../invoices/invoice.ts'
import { issueInvoice } from '../invoices/issue-invoice.ts'
import { removeCorrectedPeriods } from '../invoices/corrected-periods.ts'
import { createDraft } from '../invoices/create-draft.ts'
import { hasPendingItems } from '../invoices/items-repository.ts'
import { staysDraft } from '../invoices/stays-draft.ts'
import { partOf } from './billed-part.ts'
import { readCreditConversion } from './credit-conversion.ts'
import { payByPacks, type PaidUsage } from './pay-by-packs.ts'
import { lockPackAccount, recordDraws } from '../packs/repository.ts'
import { unixSeconds } from '../periods/periods.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import type { ChargedPeriod, InvoiceLine } from '../pricing/invoice-line.ts'
import { lockPurchase, type Purchase } from '../purchases/repository.ts'
import { updateUsageBilledTo, updateUsageBilling } from '../purchases/purchase-fields-repository.ts'
import { queuePublication, recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { readParties, type Seller } from '../invoices/parties.ts'
import { minimumLines } from './minimum-lines.ts'
import type { UsageToBill } from './prepare-usage-bill.ts'
import { raisedUnbilled } from './raised-unbilled.ts'
import {
  billTakesItems,
  combinedRenewal,
  costsTooLittle,
  usageBillContent,
  type RenewalPart,
} from './usage-bill-content.ts'
import { usageBillLines, type BilledPart, type UsageToPrice } from './usage-lines.ts'

export type UsageBillOutcome =
  | { readonly kind: 'invoiced'; readonly invoice: InvoiceWithLines }
  /** There was nothing to charge. The purchase's billing dates were updated. */
  | { readonly kind: 'noted' }
  /** The unbilled usage of the period costs less than `leastMinor`. Nothing was written. */
  | { readonly kind: 'below' }
  /** The purchase has changed since its usage was summed up. Nothing was written. */
  | { readonly kind: 'changed' }

/**
 * Issues the invoice for usage that was summed up, and updates the purchase's billing dates (`billingDates`) in the same
 * transaction, so that billed usage is not due again. `alone` bills the usage without the price of the next period. The
 * data that was read before the lock is valid as long as the billing dates are unchanged, because every bill moves
 * one of them: a bill within a period moves `usageBilledTo`, and every other bill `nextUsageBillAt` or `usageClosesAt`.
 */
export async function billUsage(
  work: UnitOfWork,
  toBill: UsageToBill,
  measured: UsageToPrice,
  seller: Seller,
  withRenewal: 'with renewal' | 'alone' = 'with renewal',
): Promise<UsageBillOutcome> {
  const { sql, providerId } = work
  const { purchase: before, period, continued } = toBill
  const purchase = await lockPurchase(sql, providerId, before.reference)
  if (purchase === undefined || !isUnchanged(purchase, before)) return { kind: 'changed' }
  // A customer who was deleted in the meantime is not billed, not even for periods that had ended before.
  if ((await findCustomer(sql, providerId, purchase.customerRef)) === undefined) {
    return { kind: 'changed' }
  }
  const { reference, customerRef, currency, planSnapshot, productRef } = purchase
  if (planSnapshot === null) throw new Error(`purchase ${reference} has no plan to charge for`)
  const { usage: unpaid, draws } = await payFromPacks(work, purchase, planSnapshot, measured)
  const conversion = await readCreditConversion(work, currency)
  const part = partOf(toBill, measured)
  const usage = usageBillLines(purchase, planSnapshot, conversion, unpaid, part)
  if (costsTooLittle(usage, toBill)) return { kind: 'below' }
  if (await isReturnedMeanwhile(work, toBill, usage)) return { kind: 'changed' }
  await recordDraws(sql, providerId, draws)
  if (draws.length > 0) await queuePublication(work, 'customer', customerRef)
  await updateBillingDates(work, toBill, part, usage)
  if (toBill.corrected !== undefined) {
    const summedAt = new Date(measured[0]!.reading.watermark)
    await removeCorrectedPeriods(sql, providerId, reference, toBill.corrected, summedAt)
  }
  // The bill before may have expected an earlier end, also if this one has no line.
  if (continued !== undefined) await extendUsagePeriod(sql, providerId, reference, continued)
  const whole = period ?? continued
  const renewal =
    withRenewal === 'alone' || whole === undefined
      ? undefined
      : await findCombinedRenewal(work, purchase, whole)
  const minimum = minimumLines(purchase, planSnapshot, toBill, usage, work.now)
  const charged = [...usage, ...minimum]
  const content = usageBillContent(purchase, toBill, measured, charged, renewal)
  if (content === undefined) return { kind: 'noted' }
  const purchaseRef = reference
  const of = { customerRef, currency }
  const takesItems = billTakesItems(toBill)
  const isDraft =
    (await staysDraft(work, of, content.lines)) &&
    !(takesItems && (await hasPendingItems(sql, providerId, of)))
  const request = { customerRef, purchaseRef, planSnapshot, currency, ...content, takesItems }
  const made = await createDraft(work, {
    ...request,
    staysDraft: isDraft,
    discountedProductRef: productRef,
  })
  if (made.kind !== 'created')
    throw new Error(`a due period of purchase ${reference} is billed already`)
  if (continued !== undefined && charged.length > 0) {
    const bill = { invoiceRef: made.invoice.reference, billedAt: work.now }
    await continueUsagePeriod(sql, providerId, reference, continued, bill)
  }
  if (isDraft) return { kind: 'noted' }
  const parties = await readParties(work, customerRef, productRef, seller)
  const invoice = await issueInvoice(work, made.invoice, parties)
  for (const line of usage) await emitUsageCharged(work, purchase, invoice.reference, line)
  return { kind: 'invoiced', invoice }
}

/**
 * Returns whether more or less of the billed usage was given up, refunded or credited since the bill was prepared, which decides how
 * much a credit may return. These changes lock the purchase too, and move none of its billing dates.
 */
async function isReturnedMeanwhile(
  { sql, providerId }: UnitOfWork,
  { purchase: { reference }, earlier }: UsageToBill,
  usage: readonly InvoiceLine[],
): Promise<boolean> {
  if (usage.every(({ amountMinor }) => amountMinor >= 0n)) return false
  const starts = earlier.map(({ start }) => start)
  const billed = await listBilledUsage(sql, providerId, reference, starts)
  return earlier.some(({ start, billed: before }) =>
    [...before].some(
      ([key, { givenUpMinor }]) =>
        billed.get(start.getTime())?.get(key)?.givenUpMinor !== givenUpMinor,
    ),
  )
}

/** Returns the usage with the units that packs pay for. Locks the packs, so that no other process uses the same units. */
async function payFromPacks(
  { sql, providerId }: UnitOfWork,
  purchase: Purchase,
  plan: PlanSnapshot,
  measured: UsageToPrice,
): Promise<Pick<PaidUsage, 'usage' | 'draws'>> {
  const account = await lockPackAccount(sql, providerId, purchase)
  if (account === undefined) return { usage: measured, draws: [] }
  return payByPacks(account, purchase, plan, measured)
}

/** Moves the dates by which a repeated bill is recognised. A bill within a period leaves its last bill due. */
async function updateBillingDates(
  work: UnitOfWork,
  { purchase: { reference, planSnapshot: plan, customerRef }, leastMinor, ...toBill }: UsageToBill,
  part: BilledPart | undefined,
  usage: readonly InvoiceLine[],
): Promise<void> {
  const { sql, providerId } = work
  if (leastMinor === undefined || part === undefined || plan === null) {
    return updateUsageBilling(sql, providerId, { reference, ...toBill.billingDates })
  }
  const planConversion = await readCreditConversion(work, plan.currency)
  const raised = raisedUnbilled(plan, part.periodStart, usage, planConversion)
  const moved = { reference, usageBilledTo: part.until, raisedUnbilled: raised }
  await updateUsageBilledTo(sql, providerId, moved)
  // Limit checks count unbilled usage from this bill on.
  if (raised !== undefined) await queuePublication(work, 'customer', customerRef)
}

function isUnchanged(one: Purchase, other: Purchase): boolean {
  return (
    one.status === other.status &&
    isSameTime(one.nextUsageBillAt, other.nextUsageBillAt) &&
    isSameTime(one.usageClosesAt, other.usageClosesAt) &&
    isSameTime(one.usageBilledTo, other.usageBilledTo) &&
    isSameTime(one.endedAt, other.endedAt) &&
    isSameTime(one.endDate, other.endDate)
  )
}

function isSameTime(one: Date | null | undefined, other: Date | null | undefined): boolean {
  return one?.getTime() === other?.getTime()
}

/** Returns the price of the next period if it belongs on the same invoice, otherwise undefined. */
async function findCombinedRenewal(
  { sql, providerId, now }: UnitOfWork,
  purchase: Purchase,
  whole: ChargedPeriod,
): Promise<RenewalPart | undefined> {
  if (purchase.planSnapshot?.terms.billingStrategy !== 'combined') return undefined
  const { reference } = purchase
  const [newest] = await listBilledPeriods(sql, providerId, reference, 'recurring', 1)
  return combinedRenewal(purchase, whole, newest, now)
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
