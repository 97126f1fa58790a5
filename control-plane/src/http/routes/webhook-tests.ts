import { z } from 'zod'
import { beginTest, createTestEvent } from '@tollgate/domain/webhooks/begin-test'
import { signingOrder } from '@tollgate/domain/webhooks/endpoint'
import { signingSecretPlace } from '@tollgate/domain/webhooks/signing-secret'
import { webhookRequest } from '@tollgate/domain/webhooks/webhook-request'
import type { PostOutcome } from '@tollgate/platform/outbound/post'
import { requiredReference } from '@tollgate/schemas/http/fields'
import {
  webhookTestedSchema,
  type WebhookTestedBody,
} from '@tollgate/schemas/http/webhook-endpoints'
import type { Secrets } from '@tollgate/platform/secrets/open-secrets'
import type { Outbound } from '@tollgate/platform/outbound/open-outbound'
import { refusals } from '../../errors.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { operationOf } from '../../access/caller.ts'
import { definedFields } from '../../domain/defined-fields.ts'

type Parts = ChangeParts & {
  readonly secrets: Secrets
  readonly outbound: Pick<Outbound, 'of'>
  readonly limits: { readonly webhookTestIntervalMs: number }
}

/** The body of the response is not shown, but the test waits for its end, up to this size. */
const responseBytesMax = 16_384

/** Registers the route that sends one test event. It sends the event once, outside the queue, in the same way as the dispatcher. */
export function registerWebhookTestRoute(app: ApiServer, parts: Parts): void {
  app.post(
    '/v1/ui/webhooks/:endpointId/test',
    {
      config: { scope: 'webhooks' },
      schema: {
        tags: ['Webhooks'],
        params: z.object({ endpointId: requiredReference }),
        response: { 200: webhookTestedSchema },
      },
    },
    async (request) => {
      const operation = operationOf(request, parts.clock)
      const { endpointId } = request.params
      const test = await commit(parts, operation, (work) =>
        beginTest(work, endpointId, parts.limits.webhookTestIntervalMs),
      )
      if (test.kind === 'not-found') throw refusals.webhookEndpointNotFound(endpointId)
      if (test.kind === 'too-soon') throw refusals.webhookTestedTooSoon(test.waitMs)
      const { providerId, environment, now } = operation
      const signingSecrets = signingOrder(test.secrets, now).map(({ sealed }) =>
        parts.secrets.open(sealed, signingSecretPlace(providerId)),
      )
      const event = createTestEvent(now, environment === 'live')
      const outcome = await parts.outbound.of(environment).post({
        url: test.endpoint.url,
        ...webhookRequest(event, signingSecrets, now),
        answerBytesMax: responseBytesMax,
      })
      return testedToHttp(event.eventId, outcome)
    },
  )
}

function testedToHttp(eventId: string, outcome: PostOutcome): WebhookTestedBody {
  const isAnswered = outcome.kind === 'answered'
  return {
    success: isAnswered && outcome.status >= 200 && outcome.status < 300,
    eventId,
    ...definedFields({
      status: outcome.status,
      error: isAnswered ? undefined : outcome.message,
    }),
    durationMs: Math.round(outcome.trip.totalMs),
  }
}
