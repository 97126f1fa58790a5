import { get, send, type Draw, type Maker } from './random-source.ts'

/* Requests about usage, limits, credits and meters. */

const meterNames = ['requests', 'tokens', 'storage', 'tool:search', 'unknown meter']

function usage(draw: Draw): Record<string, unknown> {
  const { random, some } = draw
  return {
    customerRef: draw.customer(),
    productRef: draw.product(),
    ...some({
      units: random.pick([0, 1, 2, 10, 500]),
      actionType: random.pick(['api_call', 'transaction', 'custom']),
      outcome: random.pick(['success', 'success', 'success', 'fail', 'paywall']),
      description: 'A call',
      metadata: { path: '/search', toolName: 'search' },
      duration: random.integer(0, 500),
      timestamp: `{day-${random.integer(1, 5)}}T10:${random.integer(10, 59)}:00Z`,
      idempotencyKey: `key-${random.integer(1, 400)}`,
    }),
    ...(random.chance(0.1) && { purchaseRef: draw.purchase() }),
    ...(random.chance(0.1) && { reservationId: reservation(draw) }),
  }
}

function meterEvent(draw: Draw): Record<string, unknown> {
  const { random, some } = draw
  return {
    customerRef: draw.customer(),
    meterName: random.pick(meterNames),
    ...some({
      productRef: draw.product(),
      value: random.pick([1, 2.5, 0, 0.000001, 1_000, -1]),
      properties: { region: random.pick(['eu', 'us']), toolName: 'search' },
      timestamp: `{day-${random.integer(1, 5)}}T11:${random.integer(10, 59)}:00Z`,
      idempotencyKey: `event-${random.integer(1, 200)}`,
    }),
  }
}

function reservation({ random, known }: Draw): string {
  return known.reservations.length === 0 ? 'rsv_unknown' : random.pick(known.reservations.slice(-5))
}

function limits(draw: Draw): Record<string, unknown> {
  const { random } = draw
  return {
    customerRef: draw.customer(),
    productRef: draw.product(),
    ...(random.chance(0.3) && { meterName: random.pick(meterNames) }),
    ...(random.chance(0.1) && { planRef: 'ignored' }),
    ...(random.chance(0.1) && { includeCheckoutSession: true }),
    ...(random.chance(0.25) && {
      reserve: { units: random.pick([1, 2, 50]), ttlSeconds: random.pick([300, 600]) },
    }),
    ...(random.chance(0.1) && { idempotencyKey: `hold-${random.integer(1, 40)}` }),
  }
}

function meterQuery(draw: Draw): string {
  const { random } = draw
  const ranges = [
    'from={day-6}&to={day+2}',
    'from={day-6}&to={day-1}&granularity=day',
    'from={day-3}&to={day-2}&granularity=hour',
    'from=2020-01-01&to=2020-06-01&granularity=month',
    'from=2020-01-01&to=2020-03-01&granularity=week',
    'from={day-6}',
    'from=yesterday&to=today',
    'from={day-1}&to={day-2}',
    'from={day-6}&to={day+2}&granularity=minute',
  ]
  const more = [
    '',
    '',
    `&customerRef=${draw.customer()}`,
    `&outcome=${random.pick(['all', 'fail', 'success', 'other'])}`,
  ]
  return `${random.pick(ranges)}${random.pick(more)}`
}

export const usageRequests: readonly (readonly [weight: number, maker: Maker])[] = [
  [25, (draw) => send('POST', '/v1/sdk/usages', usage(draw))],
  [
    4,
    (draw) => {
      const count = draw.random.integer(1, 5)
      const events = Array.from({ length: count }, () => usage(draw))
      return send('POST', '/v1/sdk/usages/bulk', {
        [draw.random.pick(['events', 'records'])]: events,
      })
    },
  ],
  [12, (draw) => send('POST', '/v1/sdk/meter-events', meterEvent(draw))],
  [
    3,
    (draw) => {
      const records = Array.from({ length: draw.random.integer(1, 5) }, () => meterEvent(draw))
      return send('POST', '/v1/sdk/meter-events/bulk', { records })
    },
  ],
  [25, (draw) => send('POST', '/v1/sdk/limits', limits(draw))],
  [2, (draw) => send('POST', '/v1/sdk/limits/release', { reservationId: reservation(draw) })],
  [
    8,
    (draw) =>
      send('POST', '/v1/sdk/user-info', {
        customerRef: draw.customer(),
        productRef: draw.product(),
      }),
  ],
  [4, (draw) => get(`/v1/sdk/customers/${draw.customer()}/balance`)],
  [
    5,
    (draw) =>
      send(
        'POST',
        `/v1/sdk/customers/${draw.customer()}/credits`,
        {
          credits: draw.random.pick([1, 500, 100_000, 0, 1.5]),
          ...draw.some({ reason: 'Welcome' }),
        },
        draw.random.chance(0.3)
          ? { 'idempotency-key': `grant-${draw.random.integer(1, 40)}` }
          : undefined,
      ),
  ],
  [
    2,
    (draw) =>
      send('POST', `/v1/ui/customers/${draw.customer()}/credits/adjustments`, {
        amount: draw.random.pick([100, -50, 0]),
        ...draw.some({ reason: 'By hand' }),
      }),
  ],
  [1, (draw) => get(`/v1/sdk/auto-recharge?customerRef=${draw.customer()}`)],
  [
    1,
    (draw) =>
      send('PUT', '/v1/sdk/auto-recharge', {
        customerRef: draw.customer(),
        enabled: true,
        triggerType: 'balance',
        currency: 'USD',
        ...draw.some({ thresholdAmountMajor: 5, topupAmountMajor: 20, deferSetupIntent: true }),
      }),
  ],
  [0.5, (draw) => send('DELETE', `/v1/sdk/auto-recharge?customerRef=${draw.customer()}`)],
  [1, (draw) => get(`/v1/sdk/payment-method?customerRef=${draw.customer()}`)],
  [
    1,
    (draw) =>
      send('POST', '/v1/ui/meters', {
        name: draw.random.pick(['tokens', 'storage', `meter ${draw.number}`, '']),
        ...draw.some({ displayName: 'Tokens', unit: 'tokens', aggregation: 'sum' }),
      }),
  ],
  [
    0.3,
    (draw) =>
      send(
        'PATCH',
        `/v1/ui/meters/${draw.meter()}`,
        draw.some({ unit: 'pieces', displayName: 'Other' }),
      ),
  ],
  [1, (draw) => get(draw.random.chance(0.3) ? `/v1/ui/meters/${draw.meter()}` : '/v1/ui/meters')],
  [
    3,
    (draw) => {
      const start = draw.random.pick(['/v1/ui', '/ui'])
      return get(`${start}/meters/${draw.meter()}/usage?${meterQuery(draw)}`)
    },
  ],
]
