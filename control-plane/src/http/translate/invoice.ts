import type { InvoiceDecision } from '@tollgate/domain/invoice-decisions/invoice-decision'
import type { CreditNote } from '@tollgate/domain/invoices/credit-notes'
import {
  documentNumberText,
  type Invoice,
  type InvoiceWithLines,
} from '@tollgate/domain/invoices/invoice'
import { worstDispute } from '@tollgate/domain/invoices/disputes'
import type { InvoicePayment } from '@tollgate/domain/payments/payments'
import type { InvoiceRefund } from '@tollgate/domain/payments/refunds-of-invoice'
import { dueMinor } from '@tollgate/domain/invoices/transitions'
import { formatMoney } from '@tollgate/domain/money/currencies'
import { creditedTaxOf } from '@tollgate/domain/invoices/decide-credit'
import type { InvoiceLine } from '@tollgate/domain/pricing/invoice-line'
import { netBaseOf } from '@tollgate/domain/pricing/tax-line'
import type { Environment } from '@tollgate/schemas/environment'
import type {
  CreditNoteBody,
  InvoiceBody,
  InvoiceDecisionBody,
  InvoiceLineBody,
  InvoicePaymentBody,
  InvoiceRefundBody,
  InvoiceSummaryBody,
  InvoiceTaxBody,
} from '@tollgate/schemas/http/invoices'
import type { PrintedInvoice } from '../../invoices/invoice-texts.ts'
import { definedFields } from '../../domain/defined-fields.ts'

export function invoiceSummaryToHttp(
  invoice: Invoice,
  payments: readonly InvoicePayment[],
  environment: Environment,
): InvoiceSummaryBody {
  const { reference, number, status, customerRef, purchaseRef, currency, isHeld } = invoice
  return {
    reference,
    status,
    customerRef,
    currency,
    total: Number(invoice.totalMinor),
    // The customer does not owe the unpaid amount of a void invoice.
    due: status === 'void' ? 0 : Number(dueMinor(invoice)),
    paid: Number(invoice.paidMinor),
    carried: Number(invoice.carriedMinor),
    credited: Number(invoice.creditedMinor),
    refunded: Number(invoice.refundedMinor),
    isHeld,
    formattedTotal: formatMoney(invoice.totalMinor, currency),
    createdAt: invoice.createdAt.toISOString(),
    ...definedFields({
      dispute: worstDispute(payments),
      number: number === null ? null : documentNumberText('invoice', number, environment),
      purchaseRef,
      issuedAt: invoice.issuedAt?.toISOString(),
      dueAt: invoice.dueAt?.toISOString(),
      paidAt: invoice.paidAt?.toISOString(),
      closedAt: invoice.closedAt?.toISOString(),
    }),
  }
}

/** The decisions that people made about an invoice, and its refunds. */
type DecidedParts = {
  readonly decisions: readonly InvoiceDecision[]
  readonly refunds: readonly InvoiceRefund[]
}

export function invoiceToHttp(
  { invoice, creditNotes, payments }: PrintedInvoice,
  { decisions, refunds }: DecidedParts,
  environment: Environment,
): InvoiceBody {
  const { parties } = invoice
  return {
    ...invoiceSummaryToHttp(invoice, payments, environment),
    lines: invoice.lines.map(lineToHttp),
    taxes: invoice.lines.flatMap(taxToHttp),
    payments: payments.map(paymentToHttp),
    creditNotes: creditNotes.map((note) => creditNoteToHttp(note, invoice, environment)),
    refunds: refunds.map(refundToHttp),
    decisions: decisions.map(decisionToHttp),
    ...(parties === null
      ? {}
      : {
          seller: parties.seller,
          buyer: parties.buyer,
          ...definedFields({ productName: parties.productName }),
        }),
  }
}

export function lineToHttp({
  description,
  period,
  inputs,
  amountMinor,
  exact,
}: InvoiceLine): InvoiceLineBody {
  return {
    kind: inputs.kind,
    description,
    amount: Number(amountMinor),
    exact: {
      numerator: exact.numerator.toString(),
      denominator: exact.denominator.toString(),
    },
    inputs: { ...inputs },
    ...definedFields({
      periodStart: period?.start.toISOString(),
      periodEnd: period?.end.toISOString(),
    }),
  }
}

export function taxToHttp({ inputs, amountMinor }: InvoiceLine): InvoiceTaxBody[] {
  if (inputs.kind !== 'tax') return []
  const { treatment, ratePerMille, country, region, isInclusive, parts } = inputs
  const tax = {
    treatment,
    rate: Number(ratePerMille) / 1000,
    base: Number(netBaseOf(inputs, amountMinor)),
    amount: Number(amountMinor),
    inclusive: isInclusive,
  }
  const named = parts?.map((part) => ({
    label: part.label,
    jurisdiction: part.jurisdiction,
    rate: Number(part.ratePerMille) / 1000,
  }))
  return [{ ...tax, ...definedFields({ country, region, parts: named }) }]
}

function paymentToHttp(payment: InvoicePayment): InvoicePaymentBody {
  const { reference, amountMinor, paidAt, paidWith, dispute } = payment
  return {
    reference,
    amount: Number(amountMinor),
    paidAt: paidAt.toISOString(),
    ...definedFields({
      card: paidWith,
      dispute: dispute && { status: dispute.status, amount: Number(dispute.amountMinor) },
    }),
  }
}

function creditNoteToHttp(
  note: CreditNote,
  { lines }: InvoiceWithLines,
  environment: Environment,
): CreditNoteBody {
  const { reference, number, totalMinor, settles, reason, createdAt, voidedAt } = note
  return {
    reference,
    number: documentNumberText('credit_note', number, environment),
    total: Number(totalMinor),
    tax: Number(creditedTaxOf(note, lines)),
    settles,
    createdAt: createdAt.toISOString(),
    ...definedFields({ reason, voidedAt: voidedAt?.toISOString() }),
  }
}

function decisionToHttp(decision: InvoiceDecision): InvoiceDecisionBody {
  const { reference, kind, amountMinor, reason, decidedBy, createdAt } = decision
  const { creditNoteRef, refundRef } = decision
  return {
    reference,
    kind,
    amount: Number(amountMinor),
    reason,
    decidedBy,
    createdAt: createdAt.toISOString(),
    ...definedFields({ creditNoteRef, refundRef }),
  }
}

function refundToHttp(refund: InvoiceRefund): InvoiceRefundBody {
  const { reference, goesTo: to, amountMinor, status, processorRefundId, createdAt } = refund
  return {
    reference,
    to,
    amount: Number(amountMinor),
    status,
    createdAt: createdAt.toISOString(),
    ...definedFields({ processorRefund: processorRefundId }),
  }
}
