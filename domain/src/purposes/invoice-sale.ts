import { readParties } from '../invoices/parties.ts'
import type { PeriodClaim } from '../invoices/billed-periods.ts'
import { issueInvoice } from '../invoices/issue-invoice.ts'
import { createDraft } from '../invoices/create-draft.ts'
import { payInvoice } from '../invoices/settle-invoice.ts'
import { creditLines, paidPlanLines } from '../pricing/charges.ts'
import type { InvoiceLine } from '../pricing/invoice-line.ts'
import { periodOf } from '../periods/periods.ts'
import { cycleOf } from '../purchases/access.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import type { Purchase } from '../purchases/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import { priceBeforeTax } from '../payments/taxed-terms.ts'

/** What a payment has bought, as shown on its invoice. */
export type Sale = {
  /** The purchase that was created or that the credits are for. */
  readonly purchaseRef: string
  /** Lines without tax. Their total is the price that was paid. */
  readonly lines: readonly InvoiceLine[]
  /** The period that begins with the sale. */
  readonly claims: readonly PeriodClaim[]
}

/** Returns the sale of a plan for its first period or for all time. */
export function saleOfPlan(intent: PaymentIntent, plan: PlanSnapshot, purchase: Purchase): Sale {
  return planSale(plan, purchase, intent.currency, priceBeforeTax(intent))
}

/** Returns the sale of a plan for a price without tax, in minor units of the currency. */
export function planSale(
  plan: PlanSnapshot,
  purchase: Purchase,
  currency: string,
  paidMinor: bigint,
): Sale {
  const cycle = cycleOf(purchase)
  const period = cycle === undefined ? null : periodOf(cycle, 0)
  const lines = paidPlanLines(plan, currency, paidMinor, period)
  const isBegun = period !== null && lines.some(({ inputs }) => inputs.kind === 'recurring')
  const claims = isBegun ? [{ part: 'recurring', period } as const] : []
  return { purchaseRef: purchase.reference, lines, claims }
}

export function saleOfCredits(intent: PaymentIntent, credits: bigint, purchaseRef: string): Sale {
  const lines = creditLines(intent.planSnapshot ?? undefined, credits, priceBeforeTax(intent))
  return { purchaseRef, lines, claims: [] }
}

/**
 * Issues and pays the invoice of a sale in the transaction that delivers it, and returns its reference. It states the tax that was
 * paid, and of earlier invoices only the credit that pays a part, so its total is the payment's amount. The caller calls this last, because from here until
 * the end of the transaction others wait for the next invoice number.
 */
export async function invoiceSale(
  work: UnitOfWork,
  intent: PaymentIntent,
  { purchaseRef, lines, claims }: Sale,
): Promise<string> {
  const { reference, customerRef, currency, tax, planSnapshot, productRef, sellerName } = intent
  const { originalAmountMinor, fromBalanceMinor } = intent
  if (sellerName === null) throw new Error(`payment ${reference} has no seller name`)
  const draft = await createDraft(work, {
    customerRef,
    purchaseRef,
    planSnapshot,
    currency,
    lines,
    claims,
    paidWith: tax === null ? 'no tax' : { rule: tax, isInclusive: tax.isInclusive },
    fromBalanceMinor,
  })
  if (draft.kind !== 'created')
    throw new Error(`the first period of purchase ${purchaseRef} is already billed`)
  const parties = await readParties(work, customerRef, productRef, { name: sellerName })
  const invoice = await issueInvoice(work, draft.invoice, parties)
  const charge = { chargeRef: reference, amountMinor: originalAmountMinor }
  // An invoice that the balance pays as a whole is paid once it is issued.
  if (originalAmountMinor > 0n) await payInvoice(work, invoice, charge)
  return invoice.reference
}
