import { readParties } from '../billing/bill-recurring.ts'
import type { PeriodClaim } from '../invoices/billed-periods.ts'
import { issueInvoice } from '../invoices/issue-invoice.ts'
import { makeInvoice } from '../invoices/make-invoice.ts'
import { payInvoice } from '../invoices/settle-invoice.ts'
import { creditLines, paidPlanLines } from '../pricing/charges.ts'
import type { InvoiceLine } from '../pricing/invoice-line.ts'
import { periodOf } from '../periods/periods.ts'
import { cycleOf } from '../purchases/access.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import type { Purchase } from '../purchases/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import { priceOf } from '../payments/taxed-terms.ts'

/** What a payment has bought, as its invoice tells it. */
export type Sale = {
  /** What was recorded of it, or what it was bought for. */
  readonly purchaseRef: string
  /** Without tax: they come to the price that was paid. */
  readonly lines: readonly InvoiceLine[]
  /** The period that begins with it. */
  readonly claims: readonly PeriodClaim[]
}

/** A plan, taken for its first period or for good. */
export function saleOfPlan(intent: PaymentIntent, plan: PlanSnapshot, purchase: Purchase): Sale {
  const cycle = cycleOf(purchase)
  const period = cycle === undefined ? null : periodOf(cycle, 0)
  const lines = paidPlanLines(plan, intent.currency, priceOf(intent), period)
  const isBegun = period !== null && lines.some(({ inputs }) => inputs.kind === 'recurring')
  const claims = isBegun ? [{ part: 'recurring', period } as const] : []
  return { purchaseRef: purchase.reference, lines, claims }
}

export function saleOfCredits(intent: PaymentIntent, credits: bigint, purchaseRef: string): Sale {
  const lines = creditLines(intent.planSnapshot ?? undefined, credits, priceOf(intent))
  return { purchaseRef, lines, claims: [] }
}

/**
 * Issues the invoice of what was bought and pays it, in the transaction that gives it: at the tax that was paid, and with
 * nothing of earlier invoices, so that it comes to the payment. Returns its reference. The caller does it last, as others
 * wait for the number from here until the transaction ends.
 */
export async function invoiceSale(
  work: UnitOfWork,
  intent: PaymentIntent,
  { purchaseRef, lines, claims }: Sale,
): Promise<string> {
  const { reference, customerRef, currency, tax, planSnapshot, productRef, sellerName } = intent
  if (sellerName === null) throw new Error(`${reference} does not say who sells`)
  const made = await makeInvoice(work, {
    customerRef,
    purchaseRef,
    planSnapshot,
    currency,
    lines,
    claims,
    paidWith: tax === null ? 'no tax' : { rule: tax, isInclusive: tax.isInclusive },
  })
  if (made.kind !== 'made') throw new Error(`the first period of ${purchaseRef} is billed already`)
  const parties = await readParties(work, customerRef, productRef, { name: sellerName })
  const invoice = await issueInvoice(work, made.invoice, parties)
  const charge = { chargeRef: reference, amountMinor: intent.originalAmountMinor }
  await payInvoice(work, invoice, charge)
  return invoice.reference
}
