import { operation, type DescribedOperation } from './described-operation.ts'

/** The operations on invoices, by method and path. */
export const describedInvoiceOperations: Readonly<Record<string, DescribedOperation>> = {
  'get /v1/ui/invoices': operation('listInvoices', 'List invoices'),
  'get /v1/ui/invoices/{invoiceRef}': operation('getInvoice', 'Get an invoice', 404),
  'post /v1/ui/invoices/{invoiceRef}/credit-notes': operation(
    'creditInvoice',
    'Credit an invoice',
    404,
    409,
  ),
  'post /v1/ui/invoices/{invoiceRef}/void': operation('voidInvoice', 'Void an invoice', 404, 409),
  'post /v1/ui/invoices/{invoiceRef}/write-off': operation(
    'writeOffInvoice',
    'Write an invoice off',
    404,
    409,
  ),
  'post /v1/ui/invoices/{invoiceRef}/outside-payments': operation(
    'recordOutsidePayment',
    'Record a payment by other means',
    404,
    409,
  ),
  'post /v1/ui/invoices/{invoiceRef}/charge': operation(
    'chargeInvoice',
    'Charge an invoice now',
    404,
  ),
  'get /v1/ui/invoices/{invoiceRef}/pdf': operation(
    'getInvoicePdf',
    'Get an invoice as a PDF',
    404,
  ),
  'get /v1/ui/invoices/{invoiceRef}/credit-notes/{creditNoteRef}/pdf': operation(
    'getCreditNotePdf',
    'Get a credit note as a PDF',
    404,
  ),
}
