import { operation, type DescribedOperation } from './described-operation.ts'

/** The operations on invoices, by method and path. */
export const describedInvoiceOperations: Readonly<Record<string, DescribedOperation>> = {
  'get /v1/ui/invoices': operation('listInvoices', 'List invoices'),
  'post /v1/ui/invoices': operation('issueInvoice', 'Issue an invoice', 404, 409),
  'get /v1/ui/customers/{reference}/invoice-balance': operation(
    'getCustomerBalance',
    'Get the balance of a customer',
    404,
  ),
  'get /v1/ui/customers/{reference}/invoice-balance/payouts': operation(
    'listBalancePayouts',
    'List the payouts of the balance of a customer',
    404,
  ),
  'post /v1/ui/customers/{reference}/invoice-balance/payouts': operation(
    'payOutBalance',
    'Pay out the balance of a customer',
    404,
    409,
  ),
  'get /v1/ui/customers/{reference}/invoice-items': operation(
    'listInvoiceItems',
    'List the pending items of a customer',
    404,
  ),
  'post /v1/ui/customers/{reference}/invoice-items': operation(
    'addInvoiceItem',
    'Add an item to the next invoice',
    404,
    409,
  ),
  'delete /v1/ui/customers/{reference}/invoice-items/{itemRef}': operation(
    'removeInvoiceItem',
    'Remove a pending item',
    404,
  ),
  'get /v1/ui/coupons': operation('listCoupons', 'List coupons'),
  'post /v1/ui/coupons': operation('createCoupon', 'Create a coupon', 404, 409),
  'get /v1/ui/coupons/{couponRef}': operation('getCoupon', 'Get a coupon', 404),
  'patch /v1/ui/coupons/{couponRef}': operation('updateCoupon', 'Change a coupon', 404),
  'post /v1/ui/coupons/{couponRef}/archive': operation('archiveCoupon', 'Archive a coupon', 404),
  'get /v1/ui/customers/{reference}/discounts': operation(
    'listDiscounts',
    'List the discounts of a customer',
    404,
  ),
  'post /v1/ui/customers/{reference}/discounts': operation(
    'addDiscount',
    'Give a customer a discount',
    404,
    409,
  ),
  'delete /v1/ui/customers/{reference}/discounts/{discountRef}': operation(
    'removeDiscount',
    'Remove a discount',
    404,
  ),
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
  'post /v1/ui/invoices/{invoiceRef}/due-date': operation(
    'changeInvoiceDueDate',
    'Change the due date of an invoice',
    404,
    409,
  ),
  'post /v1/ui/invoices/{invoiceRef}/hold': operation('holdInvoice', 'Hold an invoice', 404, 409),
  'post /v1/ui/invoices/{invoiceRef}/release': operation(
    'releaseInvoice',
    'Release a held invoice',
    404,
    409,
  ),
  'post /v1/ui/invoices/{invoiceRef}/refunds': operation(
    'refundInvoice',
    'Refund an invoice',
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
