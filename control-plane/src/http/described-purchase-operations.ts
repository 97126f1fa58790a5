import { operation, type DescribedOperation } from './described-operation.ts'

/** The operations on purchases and add-ons, by method and path. */
export const describedPurchaseOperations: Readonly<Record<string, DescribedOperation>> = {
  'get /v1/sdk/products/{productRef}/add-ons': operation('listAddOns', 'List add-ons', 404),
  'post /v1/sdk/products/{productRef}/add-ons': operation('createAddOn', 'Create an add-on', 404),
  'get /v1/sdk/products/{productRef}/add-ons/{addOnRef}': operation(
    'getAddOn',
    'Get an add-on',
    404,
  ),
  'patch /v1/sdk/products/{productRef}/add-ons/{addOnRef}': operation(
    'updateAddOn',
    'Change an add-on',
    404,
  ),
  'delete /v1/sdk/products/{productRef}/add-ons/{addOnRef}': operation(
    'deleteAddOn',
    'Delete or archive an add-on',
    404,
  ),
  'post /v1/sdk/activate': operation(
    'activatePlan',
    'Start a plan, or get a link to pay for it',
    404,
  ),
  'get /v1/sdk/purchases': operation('listPurchases', 'List purchases'),
  'get /v1/sdk/purchases/{purchaseRef}': operation('getPurchase', 'Get a purchase', 404),
  'get /v1/sdk/purchases/customer/{customerRef}': operation(
    'listCustomerPurchases',
    'List the purchases of a customer',
    404,
  ),
  'get /v1/sdk/purchases/product/{productRef}': operation(
    'listProductPurchases',
    'List the purchases of a product',
    404,
  ),
  'post /v1/sdk/purchases/{purchaseRef}/cancel': operation(
    'cancelPurchase',
    'Cancel a purchase',
    404,
  ),
  'post /v1/sdk/purchases/{purchaseRef}/reactivate': operation(
    'reactivatePurchase',
    'Withdraw a cancellation',
    404,
  ),
  'put /v1/sdk/purchases/{purchaseRef}/scheduled-change': operation(
    'schedulePlanChange',
    'Schedule a change of plan',
    404,
  ),
  'delete /v1/sdk/purchases/{purchaseRef}/scheduled-change': operation(
    'withdrawPlanChange',
    'Withdraw a scheduled change of plan',
    404,
  ),
  'put /v1/sdk/purchases/{purchaseRef}/add-ons/{addOnRef}': operation(
    'setAddOn',
    'Attach an add-on, or change its quantity',
    404,
    409,
  ),
  'delete /v1/sdk/purchases/{purchaseRef}/add-ons/{addOnRef}': operation(
    'removeAddOn',
    'Remove an add-on from a purchase',
    404,
    409,
  ),
  'post /v1/sdk/purchases/{purchaseRef}/invoice-preview': operation(
    'previewInvoice',
    'Preview the next invoice of a purchase',
    404,
  ),
  'post /v1/sdk/purchases/{purchaseRef}/change-preview': operation(
    'previewPlanChange',
    'Preview a change to another plan',
    404,
  ),
  'post /v1/sdk/purchases/{purchaseRef}/cancel-preview': operation(
    'previewCancellation',
    'Preview a cancellation',
    404,
  ),
}
