import { get, send, type Maker } from './random-source.ts'

/* Requests of the console and about settings, and requests that are refused before any route. */

const lists = [
  '/v1/ui/customers?limit=3',
  '/v1/ui/customers?search=customer1',
  '/v1/ui/purchases?limit=4',
  '/v1/ui/invoices?limit=5',
  '/v1/ui/invoices?status=open',
  '/v1/ui/exchange-rates',
  '/v1/ui/api-keys',
  '/v1/ui/users',
  '/v1/sdk/merchant',
  '/v1/sdk/platform-config',
  '/v1/sdk/purchases',
  '/v1/sdk/webhooks/event-types',
  '/v1/sdk/webhooks/event-schema?type=purchase.created',
  '/v1/sdk/webhooks/event-schema?type=none',
  '/v1/webhook_endpoints',
  '/v1/sdk/payment-intents?limit=3',
  '/v1/ui/reconciliations',
  '/v1/ui/webhook-replays',
  '/nowhere',
  '/v1/sdk/nowhere',
]

const wrongHeaders: readonly Readonly<Record<string, string>>[] = [
  { authorization: '' },
  { authorization: 'Bearer sk_sandbox_unknown' },
  { authorization: 'nonsense' },
  { 'content-type': 'text/plain' },
  { 'tollgate-strict': 'true' },
  { 'idempotency-key': 'ä' },
]

const wrongBodies = [
  '',
  '{',
  '[]',
  'null',
  '7',
  '"text"',
  '{"a":"\\u0000"}',
  '{"__proto__":{"x":1}}',
]

const wrongPaths = [
  '/v1/sdk/usages',
  '/v1/sdk/usages/bulk',
  '/v1/sdk/meter-events',
  '/v1/sdk/limits',
  '/v1/sdk/products',
  '/v1/sdk/customers',
  '/v1/ui/meters',
]

export const consoleRequests: readonly (readonly [weight: number, maker: Maker])[] = [
  [8, ({ random }) => get(random.pick(lists))],
  [
    1,
    ({ known, random }) =>
      get(`/v1/ui/invoices/${random.pick([...known.invoices.slice(-3), 'inv_UNKNOWN1'])}`),
  ],
  [1, (draw) => get(`/v1/ui/customers/${draw.customer()}/credits/transactions?limit=5`)],
  [
    1,
    ({ random }) =>
      send('POST', '/v1/webhook_endpoints', {
        url: random.pick(['https://127.0.0.2:9/hook', 'http://localhost:9/hook', 'ftp://x', 7]),
        // These events do not occur here, so no endpoint counts failed deliveries.
        enabledEvents: [random.pick(['payout.paid', 'payout.paid', 'none'])],
      }),
  ],
  [
    1,
    ({ random, known, some }) =>
      send(
        random.pick(['PATCH', 'GET', 'DELETE']),
        `/v1/webhook_endpoints/${random.pick([...known.endpoints.slice(-3), 'we_UNKNOWN1'])}`,
        random.chance(0.7)
          ? some({ status: 'disabled', enabledEvents: ['payout.failed'] })
          : undefined,
      ),
  ],
  [
    0.5,
    ({ random, some }) =>
      send(
        'POST',
        '/v1/ui/api-keys',
        some({ name: 'Key', scopes: [random.pick(['read', 'all'])], strict: true }),
      ),
  ],
  [
    0.5,
    ({ random }) =>
      send('PUT', `/v1/ui/exchange-rates/${random.pick(['SEK', 'EUR', 'usd', 'none'])}`, {
        unitsPerDollar: random.pick(['9.46', '0.92', '0', 'x']),
      }),
  ],
  [
    0.5,
    ({ some }) =>
      send('PATCH', '/v1/ui/merchant', some({ name: 'Acme', supportEmail: 'help@acme.example' })),
  ],
  [
    4,
    ({ random, some }) =>
      send(
        'POST',
        random.pick(wrongPaths),
        some({ customerRef: 7, name: '', productRef: {}, email: 'x', unheardOf: true }),
        random.pick(wrongHeaders),
      ),
  ],
  [
    2,
    ({ random }) => ({
      method: 'POST',
      path: random.pick(wrongPaths),
      body: random.pick(wrongBodies),
    }),
  ],
  [
    1,
    ({ random }) => ({
      method: random.pick(['PUT', 'DELETE', 'PATCH', 'HEAD']),
      path: random.pick(wrongPaths),
    }),
  ],
]
