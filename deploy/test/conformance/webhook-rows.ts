import { expect } from 'vitest'
import { text, number, iso, startingWith, invalid, listWith, type Row } from './shapes.ts'

/* Rows of events and webhook endpoints. */

export const webhookRows: readonly Row[] = [
  [
    'GET /v1/sdk/webhooks/event-types',
    undefined,
    200,
    expect.arrayContaining([
      {
        category: 'purchase',
        label: 'Purchases & subscriptions',
        description: text,
        events: expect.arrayContaining([
          { type: 'purchase.plan_changed', description: text, status: 'live' },
        ]) as unknown,
      },
    ]),
  ],
  [
    'GET /v1/sdk/webhooks/event-schema',
    undefined,
    200,
    {
      id: startingWith('evt_'),
      type: text,
      created: number,
      api_version: '2025-10-01',
      data: { previous_attributes: null },
      livemode: false,
      request: { id: null, idempotency_key: null },
    },
  ],
  ['POST /v1/webhook_endpoints', { url: 'http://hooks.acme.example' }, 400, { statusCode: 400 }],
  ['POST /v1/webhook_endpoints', { url: 'https://a.example', enabledEvents: ['x'] }, 400, invalid],
  [
    'POST /v1/webhook_endpoints',
    { url: 'https://hooks.acme.example/tollgate' },
    201,
    {
      id: startingWith('we_'),
      url: 'https://hooks.acme.example/tollgate',
      enabledEvents: [],
      status: 'enabled',
      secret: startingWith('whsec_'),
      livemode: false,
      failureCount: 0,
      createdAt: iso,
      updatedAt: iso,
    },
  ],
  [
    'GET /v1/webhook_endpoints',
    undefined,
    200,
    { webhookEndpoints: listWith({ id: startingWith('we_'), status: 'enabled' }) },
  ],
  ['GET /v1/webhook_endpoints/we_UNKNOWN1', undefined, 404, { statusCode: 404 }],
  ['POST /v1/ui/webhooks/we_UNKNOWN1/test', undefined, 404, { statusCode: 404 }],
]
