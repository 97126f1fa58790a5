/* `/v1/ui/invoices`. */

export const invoiceStatuses = [
  'draft',
  'open',
  'paid',
  'void',
  'uncollectible',
  'partly_refunded',
  'refunded',
] as const
export type InvoiceStatus = (typeof invoiceStatuses)[number]
