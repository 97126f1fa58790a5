import { refusal } from './refusal.ts'

/** The refusals of requests about invoices, their items and the balance of a customer. */
export const invoiceRefusals = {
  invoiceNotFound: (reference: string) =>
    refusal('invoice_not_found', `Invoice with reference ${reference} not found`),
  invoiceNotChangeable: (reference: string, status: string) =>
    refusal(
      'invoice_not_changeable',
      `Invoice ${reference} is ${status}, or part of it is settled, refunded or disputed, so it cannot be changed like this`,
    ),
  invoiceStartsPeriod: (reference: string, purchaseRef: string) =>
    refusal(
      'invoice_starts_period',
      `The next period of purchase ${purchaseRef} begins when invoice ${reference} is paid. Cancel the purchase, or credit the invoice: the period then begins without payment`,
    ),
  invoiceSoldCredits: (reference: string) =>
    refusal(
      'invoice_sold_credits',
      `Invoice ${reference} sold credits. Refund its payment, which takes the unused credits back`,
    ),
  invoiceCustomerDeleted: (reference: string) =>
    refusal(
      'invoice_customer_deleted',
      `The customer of invoice ${reference} was deleted and has no next invoice. Refund its payment`,
    ),
  invoiceAmountTooLarge: (leftMinor: bigint) =>
    refusal('invoice_amount_too_large', `The amount exceeds what is left: ${leftMinor}`),
  invoiceLineAmountTooLarge: (line: number, leftMinor: bigint) =>
    refusal(
      'invoice_amount_too_large',
      `The amount of line ${line} exceeds what is left of it: ${leftMinor}`,
    ),
  invoiceItemNotFound: (reference: string) =>
    refusal(
      'invoice_item_not_found',
      `Item ${reference} not found among the pending items of the customer`,
    ),
  invoiceCurrencyHasNoRate: (currency: string) =>
    refusal(
      'invoice_currency_has_no_rate',
      `There is no exchange rate for ${currency}, so it cannot be charged. Set one, or use another currency`,
    ),
  balanceAmountTooLarge: (leftMinor: bigint) =>
    refusal('balance_amount_too_large', `The amount exceeds what can be paid out: ${leftMinor}`),
  refundRefused: (reference: string) =>
    refusal(
      'refund_refused',
      `The payment processor did not refund the payment of invoice ${reference}. Read the payment there, and refund to the balance if the card takes no refund`,
    ),
  creditNoteNotFound: (reference: string) =>
    refusal('credit_note_not_found', `Credit note with reference ${reference} not found`),
}
