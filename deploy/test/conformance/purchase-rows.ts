import { iso, purchase, fullPurchase, including, type Row } from './shapes.ts'

/* Rows of purchases. */

export const purchaseRows: readonly Row[] = [
  [
    'GET /v1/sdk/purchases?customerRef={customerRef}&status=active',
    undefined,
    200,
    { purchases: [fullPurchase] },
  ],
  [
    'GET /v1/sdk/purchases?customerRef={customerRef}&includeFree=false',
    undefined,
    200,
    { purchases: [] },
  ],
  ['GET /v1/sdk/purchases/{freePurchaseRef}', undefined, 200, fullPurchase],
  ['GET /v1/sdk/purchases/pur_UNKNOWN1', undefined, 404, { statusCode: 404 }],
  ['GET /v1/sdk/purchases/customer/user_ada', undefined, 200, { purchases: [fullPurchase] }],
  ['GET /v1/sdk/purchases/customer/nobody', undefined, 404, { statusCode: 404 }],
  [
    'GET /v1/sdk/purchases/product/{productRef}',
    undefined,
    200,
    { purchases: [purchase, purchase] },
  ],
  ['GET /v1/sdk/purchases/product/prd_UNKNOWN1', undefined, 404, { statusCode: 404 }],
  [
    'POST /v1/sdk/purchases/{freePurchaseRef}/reactivate',
    undefined,
    400,
    { message: including('not pending cancellation') },
  ],
  [
    'POST /v1/sdk/purchases/{freePurchaseRef}/cancel',
    { reason: 'too much' },
    200,
    {
      success: true,
      purchase: { ...fullPurchase, cancelledAt: iso, cancellationReason: 'too much' },
    },
  ],
  ['POST /v1/sdk/purchases/pur_UNKNOWN1/cancel', undefined, 404, { statusCode: 404 }],
  [
    'POST /v1/sdk/purchases/{freePurchaseRef}/reactivate',
    undefined,
    200,
    { success: true, purchase: fullPurchase },
  ],
  ['POST /v1/sdk/purchases/pur_UNKNOWN1/reactivate', undefined, 404, { statusCode: 404 }],
]
