import { listCarried } from '../invoices/carried-amounts.ts'
import { draftLines, paidLines } from '../invoices/draft-lines.ts'
import { lineOfItem, listPendingItems } from '../invoices/items-repository.ts'
import { readTaxLines } from '../invoices/read-tax.ts'
import { decideStaysDraft } from '../invoices/stays-draft.ts'
import { findMerchant } from '../merchants/repository.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { decideDue } from '../pricing/decide-due.ts'
import { totalOf, type InvoiceLine } from '../pricing/invoice-line.ts'
import type { TaxTerms } from '../tax/tax-rule.ts'
import { OutsideQuestion } from '../unit-of-work/outside-question.ts'
import type { ReadingAt } from '../unit-of-work/unit-of-work.ts'
import { discountsAhead } from './discounts-ahead.ts'

/** Why an invoice is made. */
export type InvoiceCause =
  'plan_change' | 'first_payment' | 'usage' | 'renewal' | 'renewal_and_usage'

/** What an invoice will charge, before its tax. */
export type PlannedInvoice = {
  readonly cause: InvoiceCause
  /** The purchase that is charged; null if it does not exist yet. */
  readonly purchaseRef: string | null
  /** A purchase of the product, by which the tax of the product is found. */
  readonly taxedAsRef: string
  readonly plan: PlanSnapshot
  readonly currency: string
  readonly lines: readonly InvoiceLine[]
  /** When the invoice is issued. Undefined if that is not known yet. */
  readonly at: Date | undefined
  /** Whether lines that cost nothing get no invoice. */
  readonly mayStayDraft: boolean
  /** Whether it charges the pending items of the customer, as bills and renewals do. */
  readonly takesItems: boolean
  /** Tax of a payment that is made before the invoice. Of earlier invoices it includes only `fromBalanceMinor`. */
  readonly paidWith?: TaxTerms | 'no tax'
  /** The part of the payment's price that the customer's credit pays, in minor units. */
  readonly fromBalanceMinor?: bigint
  /**
   * Whether another purchase is charged. The invoice is computed because it uses balance and items before the previewed ones, and is
   * not returned.
   */
  readonly isBeside?: boolean
}

/** An invoice that does not exist. Amounts are minor units of `currency`. */
export type PreviewedInvoice = Omit<
  PlannedInvoice,
  'mayStayDraft' | 'paidWith' | 'fromBalanceMinor' | 'isBeside' | 'takesItems' | 'taxedAsRef'
> & {
  /** False if nothing is invoiced, because the lines cost nothing. */
  readonly isIssued: boolean
  readonly totalMinor: bigint
  readonly dueMinor: bigint
  /** Carried over to the customer's next invoice: too small to charge, or a credit if negative. */
  readonly carriedMinor: bigint
  /** The amount exceeds what the processor accepts in one charge. */
  readonly isHeld: boolean
}

/**
 * Returns the invoices in the order in which they are issued, with the customer's pending items, tax, and the amounts carried to the
 * next invoice. Each invoice has the tax of its own day. Invoices of other purchases are not returned. Nothing is written, and the
 * carried amounts stay with the customer.
 */
export async function priceInvoices(
  reading: ReadingAt,
  customerRef: string,
  planned: readonly PlannedInvoice[],
): Promise<PreviewedInvoice[]> {
  const { sql, providerId, now } = reading
  const waiting = new Map(await listCarried(sql, providerId, customerRef))
  const { issueZeroInvoices } = await findMerchant(sql, providerId)
  let pending = await listPendingItems(sql, providerId, customerRef)
  const discounts = discountsAhead({ sql, providerId }, customerRef)
  const invoices: PreviewedInvoice[] = []
  for (const { mayStayDraft, takesItems, taxedAsRef, isBeside = false, ...of } of planned) {
    const { paidWith, fromBalanceMinor = 0n, ...invoice } = of
    const { currency, plan: planSnapshot } = invoice
    discounts.countLines(invoice.lines)
    const waitingMinor = waiting.get(currency) ?? 0n
    if (paidWith !== undefined) {
      invoices.push(paidInvoice(invoice, paidLines(invoice.lines, paidWith, fromBalanceMinor)))
      waiting.set(currency, waitingMinor + fromBalanceMinor)
      continue
    }
    const facts = { issueZeroInvoices, waitingMinor, currency }
    const items = takesItems ? pending.filter((item) => item.currency === currency) : []
    if (mayStayDraft && items.length === 0 && decideStaysDraft(invoice.lines, facts)) {
      if (!isBeside) invoices.push({ ...invoice, isIssued: false, totalMinor: 0n, ...nothingDue })
      continue
    }
    pending = pending.filter((item) => !items.includes(item))
    const discounted = takesDiscounts(invoice) ? await discounts.linesOf(invoice, taxedAsRef) : []
    const lines = [...invoice.lines, ...discounted, ...items.map(lineOfItem)]
    const untaxed = { customerRef, purchaseRef: taxedAsRef, planSnapshot, currency, lines }
    const tax = await readTax({ ...reading, now: invoice.at ?? now }, untaxed, isBeside)
    const whole = draftLines(lines, tax, waitingMinor)
    const totalMinor = totalOf(whole)
    const due = decideDue(totalMinor, currency)
    waiting.set(currency, due.carriedMinor)
    if (!isBeside) invoices.push({ ...invoice, lines: whole, isIssued: true, totalMinor, ...due })
  }
  return invoices
}

/** How many questions about taxes one preview asks before it estimates those of invoices that it does not show. */
const questionsOfBesideMax = 16

/**
 * Returns the tax lines of an invoice. Other purchases can have hundreds of invoices, so their tax is estimated by the built-in rule once
 * enough was asked: only what they leave of the balance matters.
 */
async function readTax(
  { asked, ...estimate }: ReadingAt,
  untaxed: Parameters<typeof readTaxLines>[1],
  isBeside: boolean,
): Promise<InvoiceLine[]> {
  if (asked === undefined) return readTaxLines(estimate, untaxed)
  try {
    return await readTaxLines({ ...estimate, asked }, untaxed)
  } catch (error) {
    const isEnough = isBeside && asked.length >= questionsOfBesideMax
    if (!(error instanceof OutsideQuestion) || !isEnough) throw error
    return readTaxLines(estimate, untaxed)
  }
}

/** The lines of a change of plan contain what discounts take off. */
function takesDiscounts({ cause }: Pick<PlannedInvoice, 'cause'>): boolean {
  return cause !== 'plan_change' && cause !== 'first_payment'
}

const nothingDue = { dueMinor: 0n, carriedMinor: 0n, isHeld: false } as const

/** Returns an invoice over exactly the amount of its payment. */
function paidInvoice(
  invoice: Omit<PreviewedInvoice, 'isIssued' | 'totalMinor' | keyof typeof nothingDue>,
  lines: readonly InvoiceLine[],
): PreviewedInvoice {
  const totalMinor = totalOf(lines)
  return { ...invoice, lines, isIssued: true, totalMinor, ...nothingDue, dueMinor: totalMinor }
}
