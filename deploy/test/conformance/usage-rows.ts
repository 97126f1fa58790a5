import { text, number, iso, startingWith, invalid, forCustomer, type Row } from './shapes.ts'

/* Rows of limit checks, usage and its queries. */

export const usageRows: readonly Row[] = [
  [
    'POST /v1/sdk/limits',
    { ...forCustomer, planRef: 'ignored' },
    200,
    { withinLimits: true, remaining: 100, plan: '{freePlanRef}', meterName: 'requests' },
  ],
  ['POST /v1/sdk/limits', { customerRef: '' }, 400, invalid],
  ['POST /v1/sdk/limits', { ...forCustomer, customerRef: 'nobody' }, 404, { statusCode: 404 }],
  [
    'GET /v1/sdk/merchant',
    undefined,
    200,
    { name: 'Test', displayName: 'Test', legalName: text, defaultCurrency: 'USD' },
  ],
  [
    'POST /v1/sdk/meter-events',
    { customerRef: '{customerRef}', value: 2.5 },
    200,
    { success: true },
  ],
  [
    'POST /v1/sdk/meter-events',
    { customerRef: '{customerRef}', meterName: 'unknown' },
    400,
    { statusCode: 400 },
  ],
  [
    'POST /v1/sdk/meter-events/bulk',
    { records: [{ customerRef: 'u1' }, { customerRef: 'u2' }] },
    200,
    { success: true, inserted: 2 },
  ],
  ['POST /v1/sdk/meter-events/bulk', { events: [{ customerRef: 'u1' }] }, 200, { inserted: 1 }],
  ['POST /v1/sdk/meter-events/bulk', { records: [] }, 400, invalid],

  ['GET /v1/sdk/payment-method?customerRef={customerRef}', undefined, 200, { kind: 'none' }],
  ['GET /v1/sdk/payment-method?customerRef=nobody', undefined, 404, { statusCode: 404 }],
  [
    'POST /v1/sdk/payment-intents/pi_UNKNOWN1/business-details',
    { isBusiness: false },
    404,
    { success: false, code: 'PAYMENT_INTENT_NOT_FOUND', statusCode: 404 },
  ],
  ['POST /v1/sdk/payment-intents/pi_UNKNOWN1/business-details', {}, 400, invalid],
  ['GET /v1/sdk/platform-config', undefined, 200, {}],

  [
    'POST /v1/sdk/usages',
    { customerRef: '{creditCustomerRef}', productRef: '{productRef}', idempotencyKey: 'k1' },
    200,
    {
      success: true,
      reference: startingWith('usage_'),
      creditDebit: { debited: true, amount: 100, unitsRemaining: 4 },
    },
  ],
  [
    'POST /v1/sdk/usages',
    { customerRef: '{creditCustomerRef}', productRef: '{productRef}', idempotencyKey: 'k1' },
    200,
    { success: true, creditDebit: { debited: false, reason: 'duplicate' } },
  ],
  ['POST /v1/sdk/usages', { customerRef: '{customerRef}', units: 100_001 }, 400, invalid],
  [
    'POST /v1/sdk/usages/bulk',
    {
      events: [
        { customerRef: '{customerRef}' },
        { customerRef: 'nobody', productRef: '{productRef}' },
      ],
    },
    200,
    {
      success: true,
      inserted: 2,
      results: [
        { creditDebit: { debited: false, reason: 'no_product_ref' } },
        { creditDebit: { debited: false, reason: 'customer_not_found' } },
      ],
    },
  ],
  ['POST /v1/sdk/usages/bulk', { events: [] }, 400, invalid],
  [
    'POST /v1/sdk/user-info',
    forCustomer,
    200,
    {
      status: text,
      verifyUrl: text,
      user: { reference: '{customerRef}', email: 'ada@acme.example', externalRef: 'user_ada' },
      purchase: {
        productName: 'Search',
        planType: 'recurring',
        usage: { total: 100, used: number, remaining: number, percentUsed: number },
        plan: { reference: '{freePlanRef}', price: 0, currency: 'USD', type: 'recurring' },
      },
    },
  ],
  ['POST /v1/sdk/user-info', {}, 400, invalid],
  ['POST /v1/sdk/user-info', { ...forCustomer, customerRef: 'nobody' }, 404, { statusCode: 404 }],
  [
    'GET /ui/meters/{meterRef}/usage?from=2020-01-01&to=2100-01-01&customerRef={creditCustomerRef}',
    undefined,
    200,
    { meterRef: '{meterRef}', meterName: 'requests', total: 1, count: 1, from: iso, to: iso },
  ],
  [
    'GET /v1/ui/meters/mtr_UNKNOWN1/usage?from=2020-01-01&to=2100-01-01',
    undefined,
    404,
    { statusCode: 404 },
  ],
  ['GET /v1/openapi.json', undefined, 200, { openapi: '3.1.0' }],
]
