import { get, send, type Draw, type Maker } from './random-source.ts'

/* Requests about products, plans, customers and purchases. */

/** Prices in US cents. None has `charges`. */
const planKinds: readonly ((draw: Draw) => Record<string, unknown>)[] = [
  ({ random }) => ({ type: 'recurring', price: 0, limit: random.integer(1, 200), default: true }),
  ({ random }) => ({
    type: 'recurring',
    billingCycle: random.pick(['weekly', 'monthly', 'quarterly', 'yearly', 'custom']),
    price: random.integer(0, 9_900),
    limit: random.integer(1, 10_000),
  }),
  ({ random }) => ({
    type: 'usage-based',
    billingModel: 'pre-paid',
    creditsPerUnit: random.pick([1, 100, 250]),
  }),
  ({ random }) => ({
    type: 'usage-based',
    billingModel: 'post-paid',
    billingCycle: 'monthly',
    creditsPerUnit: random.integer(1, 300),
    freeUnits: random.pick([0, 10, 100.5]),
  }),
  ({ random }) => ({
    type: 'hybrid',
    billingCycle: 'monthly',
    basePrice: random.integer(0, 4_900),
    creditsPerUnit: random.integer(1, 300),
    freeUnits: 50,
    limit: 500,
    overagePolicy: { allowOverage: true, overageRate: 1.5, maxOverage: random.integer(1, 100) },
  }),
  ({ random }) => ({
    type: 'usage-based',
    billingModel: 'post-paid',
    usageTierMode: random.pick(['graduated', 'volume']),
    usageTiers: [
      { minUsage: 0, maxUsage: 10, creditsPerUnit: 3 },
      { minUsage: 10, maxUsage: null, creditsPerUnit: 2.5 },
    ],
    unitsPerPackage: random.pick([1, 10]),
  }),
  ({ random }) => ({ type: 'one-time', price: random.integer(0, 5_000), limit: 100 }),
]

function planFields(draw: Draw): Record<string, unknown> {
  const { random, some, number } = draw
  return {
    name: `Plan ${number}`,
    ...random.pick(planKinds)(draw),
    ...(random.chance(0.3) &&
      some({
        description: 'Terms',
        trialDays: random.integer(0, 30),
        setupFee: 500,
        currency: random.pick(['USD', 'eur', 'SEK', 'nothing']),
        rolloverUnusedUnits: random.chance(0.5),
        prorationPolicy: random.pick(['proportional', 'full', 'none', 'other']),
        features: { seats: 3 },
        limits: { perDay: 10 },
        maxUnbilledMinor: random.integer(0, 10_000),
        requiresPaymentMethod: false,
        hidden: random.chance(0.5),
        pricingOptions: [{ currency: 'EUR', price: 900, default: random.chance(0.5) }],
        status: random.pick(['active', 'inactive']),
        productRef: 'ignored',
      })),
  }
}

const product = ({ number, some, random }: Draw): Record<string, unknown> => ({
  name: `Product ${number}`,
  ...some({
    description: 'Finds things',
    productType: 'api',
    imageUrl: 'https://acme.example/logo.png',
    metadata: { team: 'search', level: random.integer(1, 3) },
    config: { deliveryMethod: 'api', fulfillmentType: 'instant', validityPeriod: 30 },
    capabilities: ['ignored'],
  }),
})

const customer = ({ number, some }: Draw): Record<string, unknown> => ({
  email: `customer${number}@acme.example`,
  ...some({
    name: `Customer ${number}`,
    externalRef: `user_${number}`,
    telephone: '+46 8 123',
    metadata: { source: 'corpus' },
  }),
})

export const catalogRequests: readonly (readonly [weight: number, maker: Maker])[] = [
  [5, (draw) => send('POST', '/v1/sdk/products', product(draw))],
  [2, (draw) => send('PUT', `/v1/sdk/products/${draw.product()}`, draw.some(product(draw)))],
  [2, (draw) => get(`/v1/sdk/products/${draw.product()}`)],
  [
    1,
    ({ random }) =>
      get(`/v1/sdk/products?limit=${random.integer(0, 5)}&offset=${random.integer(0, 9)}`),
  ],
  [1, (draw) => send('POST', `/v1/sdk/products/${draw.product()}/clone`, { name: 'Twin' })],
  [0.5, (draw) => send('DELETE', `/v1/sdk/products/${draw.product()}`)],
  [12, (draw) => send('POST', `/v1/sdk/products/${draw.product()}/plans`, planFields(draw))],
  [
    3,
    (draw) => {
      const { productRef, planRef } = draw.plan()
      return send(
        'PUT',
        `/v1/sdk/products/${productRef}/plans/${planRef}`,
        draw.some(planFields(draw)),
      )
    },
  ],
  [2, (draw) => get(`/v1/sdk/products/${draw.product()}/plans?limit=3`)],
  [
    2,
    (draw) => {
      const { productRef, planRef } = draw.plan()
      return get(`/v1/sdk/products/${productRef}/plans/${planRef}`)
    },
  ],
  [
    0.5,
    (draw) => {
      const { productRef, planRef } = draw.plan()
      return send('DELETE', `/v1/sdk/products/${productRef}/plans/${planRef}`)
    },
  ],
  [6, (draw) => send('POST', '/v1/sdk/customers', customer(draw))],
  [2, (draw) => send('PATCH', `/v1/sdk/customers/${draw.customer()}`, draw.some(customer(draw)))],
  [2, (draw) => get(`/v1/sdk/customers/${draw.customer()}`)],
  [1, (draw) => get(`/v1/sdk/customers?externalRef=${draw.customer()}`)],
  [
    1,
    ({ random }) => get(`/v1/sdk/customers?email=customer${random.integer(0, 99)}%40acme.example`),
  ],
  [0.3, (draw) => send('DELETE', `/v1/ui/customers/${draw.customer()}?settle=write_off`)],
  [
    10,
    (draw) => send('POST', '/v1/sdk/activate', { customerRef: draw.customer(), ...draw.plan() }),
  ],
  [
    2,
    (draw) =>
      send('POST', '/v1/sdk/checkout-sessions', { customerRef: draw.customer(), ...draw.plan() }),
  ],
  [1, (draw) => get(`/v1/sdk/purchases/${draw.purchase()}`)],
  [1, (draw) => get(`/v1/sdk/purchases/customer/${draw.customer()}`)],
  [1, (draw) => get(`/v1/sdk/purchases/product/${draw.product()}`)],
  [
    2,
    (draw) =>
      send('POST', `/v1/sdk/purchases/${draw.purchase()}/cancel`, draw.some({ reason: 'x' })),
  ],
  [2, (draw) => send('POST', `/v1/sdk/purchases/${draw.purchase()}/reactivate`)],
]
