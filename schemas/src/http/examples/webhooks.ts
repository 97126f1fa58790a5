import { eventEnvelopeSchema, eventTypesResponseSchema } from '../webhooks.ts'
import {
  webhookEndpointCreateSchema,
  webhookEndpointDeletedSchema,
  webhookEndpointSchema,
  webhookEndpointsResponseSchema,
  webhookEndpointUpdateSchema,
  webhookEndpointWithAttemptsSchema,
  webhookEndpointWithSecretSchema,
  webhookSecretRotateSchema,
  webhookTestedSchema,
  type WebhookEndpointBody,
} from '../webhook-endpoints.ts'
import {
  webhookDeliveriesResponseSchema,
  webhookDeliverySchema,
  webhookReplayCreateSchema,
  webhookReplaySchema,
  webhookReplaysPageSchema,
  type WebhookDeliveryBody,
  type WebhookReplayBody,
} from '../webhook-deliveries.ts'
import { examplesOf } from './example.ts'
import { sampleEvent } from './events.ts'
import { instants, refs } from './story.ts'

const url = 'https://acme.example/webhooks'
const oldSecret = { id: 'whs_6QK2XN9TB4MW', createdAt: instants.created }
const newSecret = { id: 'whs_9TB4MW6QK2XN', createdAt: instants.now }

const endpoint: WebhookEndpointBody = {
  id: refs.webhookEndpoint,
  url,
  sendsLinks: true,
  enabledEvents: ['payment.succeeded', 'payment.failed'],
  status: 'enabled',
  failureCount: 0,
  livemode: false,
  signingSecrets: [oldSecret],
  createdAt: instants.created,
  updatedAt: instants.created,
}

const disabledEndpoint: WebhookEndpointBody = {
  ...endpoint,
  status: 'disabled',
  disabledReason: 'attempts',
  disabledAt: instants.now,
  failureCount: 214,
  failingSince: instants.changed,
  updatedAt: instants.now,
}

const oldSecretEnding = { ...oldSecret, expiresAt: '2026-03-15T08:15:30.125Z' }
const secret = 'whsec_0000000000000000000000000000000000000000000000000000000000000000'

const attempt = {
  number: 1,
  isReversed: false,
  startedAt: '2026-03-14T08:15:30.181Z',
  durationMs: 84,
  connectMs: 41,
  answerMs: 83,
  status: 503,
  address: '203.0.113.24',
}
const delivery: WebhookDeliveryBody = {
  id: refs.webhookDelivery,
  endpointId: refs.webhookEndpoint,
  eventId: refs.event,
  type: 'payment.succeeded',
  state: 'pending',
  dueAt: '2026-03-14T08:20:30.265Z',
  createdAt: instants.now,
  attempts: [attempt],
}
const replayed: WebhookDeliveryBody = {
  ...delivery,
  id: 'dlv_2M9XK4TQ7BHW7HW2M9XK4TQB',
  replayId: refs.webhookReplay,
  dueAt: instants.now,
  attempts: [],
}
const replay: WebhookReplayBody = {
  id: refs.webhookReplay,
  endpointId: refs.webhookEndpoint,
  onlyFailed: false,
  from: instants.created,
  to: instants.now,
  state: 'running',
  queued: 1_500,
  createdAt: instants.now,
}

const lastAttempts = [{ deliveryId: refs.webhookDelivery, ...attempt }]

export const webhookExamples = {
  listWebhookEndpoints: {
    answer: examplesOf(webhookEndpointsResponseSchema, {
      'One of them': { webhookEndpoints: [endpoint] },
    }),
  },
  createWebhookEndpoint: {
    body: examplesOf(webhookEndpointCreateSchema, {
      'All events': { url },
      'Some of them': { url, enabledEvents: ['payment.succeeded', 'payment.failed'] },
    }),
    answer: examplesOf(webhookEndpointWithSecretSchema, { Created: { ...endpoint, secret } }),
  },
  getWebhookEndpoint: {
    answer: examplesOf(webhookEndpointWithAttemptsSchema, {
      'It was disabled': { ...disabledEndpoint, lastAttempts },
    }),
  },
  updateWebhookEndpoint: {
    body: examplesOf(webhookEndpointUpdateSchema, {
      'All events from now on': { enabledEvents: [] },
      'Enable it again': { status: 'enabled' },
      'The same, without what is old': { status: 'enabled', skipHeldBefore: instants.now },
    }),
    answer: examplesOf(webhookEndpointSchema, { 'All events': { ...endpoint, enabledEvents: [] } }),
  },
  deleteWebhookEndpoint: {
    answer: examplesOf(webhookEndpointDeletedSchema, { Deleted: { success: true } }),
  },
  rotateWebhookSecret: {
    body: examplesOf(webhookSecretRotateSchema, {
      'Both sign for a week': { overlapHours: 168 },
      'The old one leaked': { overlapHours: 0 },
    }),
    answer: examplesOf(webhookEndpointWithSecretSchema, {
      'Both sign': { ...endpoint, signingSecrets: [oldSecretEnding, newSecret], secret },
    }),
  },
  promoteWebhookSecret: {
    answer: examplesOf(webhookEndpointSchema, {
      'The new one signs first': { ...endpoint, signingSecrets: [newSecret, oldSecretEnding] },
    }),
  },
  testWebhookEndpoint: {
    answer: examplesOf(webhookTestedSchema, {
      'It was answered': { success: true, eventId: refs.event, status: 200, durationMs: 84 },
      'It was not': {
        success: false,
        eventId: refs.event,
        error: 'The address did not answer in time',
        durationMs: 10_000,
      },
    }),
  },
  listWebhookDeliveries: {
    answer: examplesOf(webhookDeliveriesResponseSchema, {
      'One is tried again': { deliveries: [delivery], hasMore: false },
    }),
  },
  getWebhookDelivery: {
    answer: examplesOf(webhookDeliverySchema, {
      'It is tried again': { ...delivery, attempts: [{ ...attempt, answer: 'Back in a minute' }] },
    }),
  },
  replayWebhookDelivery: {
    answer: examplesOf(webhookDeliverySchema, { 'On its way': replayed }),
  },
  listWebhookReplays: {
    answer: examplesOf(webhookReplaysPageSchema, {
      'One of them': { replays: [replay], total: 1, limit: 50, offset: 0 },
    }),
  },
  createWebhookReplay: {
    body: examplesOf(webhookReplayCreateSchema, {
      'All of some days': {
        endpointId: refs.webhookEndpoint,
        from: instants.created,
        to: instants.now,
      },
      'What it never took': { endpointId: refs.webhookEndpoint, onlyFailed: true },
    }),
    answer: examplesOf(webhookReplaySchema, { Begun: { ...replay, queued: 0 } }),
  },
  getWebhookReplay: { answer: examplesOf(webhookReplaySchema, { 'Under way': replay }) },
  cancelWebhookReplay: {
    answer: examplesOf(webhookReplaySchema, {
      Cancelled: { ...replay, state: 'cancelled', finishedAt: instants.now },
    }),
  },
  listEventTypes: {
    answer: examplesOf(eventTypesResponseSchema, {
      'One of the categories': [
        {
          category: 'customer',
          label: 'Customers',
          description: 'Customers of the provider',
          events: [
            { type: 'customer.created', description: 'A customer was created', status: 'live' },
          ],
        },
      ],
    }),
  },
  getSampleEvent: {
    answer: examplesOf(eventEnvelopeSchema, {
      'A payment': sampleEvent('payment.succeeded'),
    }),
  },
}
