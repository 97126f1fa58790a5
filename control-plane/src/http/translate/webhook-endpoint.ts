import { signingOrder } from '@tollgate/domain/webhooks/endpoint'
import type { EndpointWithSecrets } from '@tollgate/domain/webhooks/manage-endpoints'
import type { Environment } from '@tollgate/schemas/environment'
import type { WebhookEndpointBody } from '@tollgate/schemas/http/webhook-endpoints'
import { present } from '../../domain/present.ts'

/** Converts an endpoint that was not deleted. */
export function webhookEndpointToHttp(
  { endpoint, secrets }: EndpointWithSecrets,
  environment: Environment,
  now: Date,
): WebhookEndpointBody {
  const { disabledReason, disabledAt, failingSince } = endpoint
  return {
    id: endpoint.reference,
    url: endpoint.url,
    sendsLinks: endpoint.sendsLinks,
    enabledEvents: [...endpoint.enabledEvents],
    status: endpoint.status === 'enabled' ? 'enabled' : 'disabled',
    failureCount: endpoint.failureCount,
    livemode: environment === 'live',
    signingSecrets: signingOrder(secrets, now).map(({ reference, createdAt, expiresAt }) => ({
      id: reference,
      createdAt: createdAt.toISOString(),
      ...present({ expiresAt: expiresAt?.toISOString() }),
    })),
    createdAt: endpoint.createdAt.toISOString(),
    updatedAt: endpoint.updatedAt.toISOString(),
    ...present({
      disabledReason,
      disabledAt: disabledAt?.toISOString(),
      failingSince: failingSince?.toISOString(),
    }),
  }
}
