import { text, startingWith, invalid, product, plan, listWith, type Row } from './shapes.ts'

/* Rows of products, plans and MCP servers. */

export const catalogRows: readonly Row[] = [
  [
    'GET /v1/sdk/products?limit=500&offset=0',
    undefined,
    200,
    { products: [product, product], total: 2, limit: 100, offset: 0 },
  ],
  ['POST /v1/sdk/products', { name: 'New', capabilities: ['ignored'] }, 201, product],
  ['POST /v1/sdk/products', { name: '' }, 400, invalid],
  ['GET /v1/sdk/products/{productRef}', undefined, 200, { ...product, plans: listWith(plan) }],
  ['GET /v1/sdk/products/prd_UNKNOWN1', undefined, 404, { statusCode: 404 }],
  [
    'PUT /v1/sdk/products/{productRef}',
    { description: 'Finds things', config: { deliveryMethod: 'api' } },
    200,
    { ...product, name: 'Search', description: 'Finds things', config: { deliveryMethod: 'api' } },
  ],
  ['PUT /v1/sdk/products/{productRef}', { config: 'none' }, 400, invalid],
  ['PUT /v1/sdk/products/prd_UNKNOWN1', {}, 404, { statusCode: 404 }],
  [
    'POST /v1/sdk/products/{otherProductRef}/clone',
    { name: 'Twin' },
    201,
    { ...product, name: 'Twin' },
  ],
  ['POST /v1/sdk/products/prd_UNKNOWN1/clone', undefined, 404, { statusCode: 404 }],
  [
    'DELETE /v1/sdk/products/{otherProductRef}',
    undefined,
    200,
    { success: true, action: 'deleted' },
  ],
  ['DELETE /v1/sdk/products/{otherProductRef}', undefined, 404, { statusCode: 404 }],
  [
    'POST /v1/sdk/products/mcp/bootstrap',
    { originUrl: 'http://127.0.0.1:9/mcp', tools: [] },
    400,
    { statusCode: 400, code: text, message: text },
  ],
  [
    'POST /v1/sdk/products/mcp/bootstrap',
    { originUrl: 'https://mcp.acme.example/mcp', name: 'Tools', tools: [{ name: 'search' }] },
    201,
    { product: { isMcpPay: true }, mcpServer: { reference: startingWith('mcp_') }, planMap: {} },
  ],
  ['PUT /v1/sdk/products/{productRef}/mcp/plans', { plans: 'none' }, 400, invalid],
  ['PUT /v1/sdk/products/prd_UNKNOWN1/mcp/plans', {}, 404, { statusCode: 404 }],

  [
    'GET /v1/sdk/products/{productRef}/plans',
    undefined,
    200,
    {
      plans: listWith(plan),
      total: 3,
      limit: 50,
      offset: 0,
    },
  ],
  ['GET /v1/sdk/products/prd_UNKNOWN1/plans', undefined, 404, { statusCode: 404 }],
  [
    'POST /v1/sdk/products/{productRef}/plans',
    { name: 'Team', type: 'unheard of', price: 9900, productRef: 'ignored' },
    201,
    { ...plan, type: 'recurring', billingCycle: 'monthly', requiresPayment: true },
  ],
  ['POST /v1/sdk/products/{productRef}/plans', { name: 'x', price: -1 }, 400, invalid],
  ['POST /v1/sdk/products/prd_UNKNOWN1/plans', { name: 'x' }, 404, { statusCode: 404 }],
  [
    'GET /v1/sdk/products/{productRef}/plans/{freePlanRef}',
    undefined,
    200,
    { ...plan, default: true },
  ],
  ['GET /v1/sdk/products/{productRef}/plans/pln_UNKNOWN1', undefined, 404, { statusCode: 404 }],
  [
    'PUT /v1/sdk/products/{productRef}/plans/{paidPlanRef}',
    { price: 5900 },
    200,
    { ...plan, price: 5900, limit: 1000 },
  ],
  ['PUT /v1/sdk/products/{productRef}/plans/{paidPlanRef}', { price: '1' }, 400, invalid],
  ['PUT /v1/sdk/products/{productRef}/plans/pln_UNKNOWN1', {}, 404, { statusCode: 404 }],
  ['DELETE /v1/sdk/products/{productRef}/plans/{paidPlanRef}', undefined, 200, { success: true }],
  ['DELETE /v1/sdk/products/{productRef}/plans/{paidPlanRef}', undefined, 404, { statusCode: 404 }],
]
