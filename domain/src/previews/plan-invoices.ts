import { partOf } from '../billing/billed-part.ts'
import { payByPacks } from '../billing/pay-by-packs.ts'
import { periodsBilledAfter } from '../billing/periods-billed-after.ts'
import type { UsageToBill } from '../billing/prepare-usage-bill.ts'
import { billTakesItems, combinedRenewal, usageBillContent } from '../billing/usage-bill-content.ts'
import { usageBillLines, type UsageToPrice } from '../billing/usage-lines.ts'
import type { RenewalOf, UsageBillAhead } from './plan-bills.ts'
import { chargeOfRenewal } from './plan-renewal.ts'
import type { PlannedInvoice } from './price-invoices.ts'
import type { BillsToPreview, BillToPreview, ReadBills } from './read-bills.ts'
import { settleAhead, type MeasureAhead, type PacksAhead } from './settle-ahead.ts'

/** Sums up the usage of a bill. */
export type MeasureBill = (toBill: UsageToBill) => Promise<UsageToPrice>

/** Returns the invoices of the bills without tax, in the order in which they are issued. */
export async function planInvoices(
  { bills, packs: before }: ReadBills,
  now: Date,
  measure: MeasureBill,
  measurePacks: MeasureAhead,
): Promise<PlannedInvoice[]> {
  const planned: PlannedInvoice[] = []
  let packs = before
  for (const of of bills) {
    const usage: PlannedInvoice[] = []
    const combined: Date[] = []
    let billed: UsageToBill['earlier'] | undefined
    for (const { bill, toBill } of of.usage) {
      const whole = { ...toBill, earlier: billed ?? toBill.earlier }
      // Late usage only exists for periods that were billed before.
      if (bill.period === undefined && whole.earlier.length === 0) continue
      packs = packs && (await settleAhead(packs, bill.at ?? now, measurePacks))
      const priced = priceBill(of, { bill, toBill: whole }, await measure(whole), packs)
      packs = priced.packs
      billed = priced.billed
      if (priced.invoice !== undefined) usage.push(priced.invoice)
      if (priced.renewedAt !== undefined) combined.push(priced.renewedAt)
    }
    const renewals = of.renewals.flatMap((renewal) => invoiceOfRenewal(of, renewal, combined))
    const strategy = of.purchase.planSnapshot?.terms.billingStrategy
    // Both are issued at one time if the billing runner is late.
    planned.push(
      ...(strategy === 'usage_first' ? [...usage, ...renewals] : [...renewals, ...usage]),
    )
  }
  return planned.toSorted(inOrder)
}

/** The sort is stable, so invoices of one instant keep their order. Bills without a date come last. */
export function inOrder({ at: one }: PlannedInvoice, { at: other }: PlannedInvoice): number {
  if (one === undefined || other === undefined) {
    return Number(one === undefined) - Number(other === undefined)
  }
  return one.getTime() - other.getTime()
}

type PricedBill = {
  readonly invoice: PlannedInvoice | undefined
  /** Start of the period whose price is on the same invoice. Undefined if there is none. */
  readonly renewedAt?: Date
  readonly billed: UsageToBill['earlier']
  readonly packs: PacksAhead | undefined
}

function priceBill(
  { purchase, isStored, taxedAsRef, newestInvoiced, rate }: BillsToPreview,
  { bill, toBill }: BillToPreview,
  measured: UsageToPrice,
  packs: PacksAhead | undefined,
): PricedBill {
  const { planSnapshot: plan, currency, reference } = purchase
  if (plan === null) throw new Error(`purchase ${reference} has no plan to charge for`)
  const paid = packs && payByPacks(packs.account, purchase, plan, measured)
  const usage = paid?.usage ?? measured
  const conversion = { currency, unitsPerDollar: rate.unitsPerDollar }
  const lines = usageBillLines(purchase, plan, conversion, usage, partOf(toBill, measured))
  const after = {
    billed: periodsBilledAfter(usage, lines),
    packs: packs && paid && { ...packs, account: paid.account },
  }
  const renewal = renewalOn(bill, toBill, newestInvoiced)
  const content = usageBillContent(purchase, toBill, measured, lines, renewal)
  if (content === undefined) return { ...after, invoice: undefined }
  const invoice: PlannedInvoice = {
    cause: renewal === undefined ? 'usage' : 'renewal_and_usage',
    purchaseRef: isStored ? reference : null,
    taxedAsRef,
    plan,
    currency,
    lines: content.lines,
    at: bill.at,
    mayStayDraft: true,
    takesItems: billTakesItems(toBill),
  }
  return {
    ...after,
    invoice,
    ...(renewal === undefined ? {} : { renewedAt: renewal.period.start }),
  }
}

function renewalOn(
  { purchase, at }: UsageBillAhead,
  { period, continued }: UsageToBill,
  newestInvoiced: BillsToPreview['newestInvoiced'],
): ReturnType<typeof combinedRenewal> {
  const whole = period ?? continued
  if (whole === undefined || at === undefined) return undefined
  return combinedRenewal(purchase, whole, newestInvoiced, at)
}

/** Returns the invoice for the price of a period, unless it was invoiced before or is on an invoice with usage. */
function invoiceOfRenewal(
  { newestInvoiced, isStored, taxedAsRef }: BillsToPreview,
  { purchase, ...renewal }: RenewalOf,
  combined: readonly Date[],
): PlannedInvoice[] {
  const charge = chargeOfRenewal(purchase, renewal)
  if (charge === undefined) return []
  const { of, plan, period, lines } = charge
  if (combined.some((start) => start.getTime() === period.start.getTime())) return []
  const isSame = of === purchase
  if (isSame && newestInvoiced !== undefined && newestInvoiced.start >= period.start) return []
  const invoice: PlannedInvoice = {
    cause: 'renewal',
    purchaseRef: isSame && isStored ? of.reference : null,
    taxedAsRef,
    plan,
    currency: of.currency,
    lines,
    at: renewal.at,
    mayStayDraft: false,
    takesItems: true,
  }
  return [invoice]
}
