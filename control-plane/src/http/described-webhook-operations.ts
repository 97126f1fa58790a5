import { operation, type DescribedOperation } from './described-operation.ts'

/** Operations of webhook endpoints, deliveries and event types. */
export const describedWebhookOperations: Readonly<Record<string, DescribedOperation>> = {
  'get /v1/webhook_endpoints': operation('listWebhookEndpoints', 'List webhook endpoints'),
  'post /v1/webhook_endpoints': operation('createWebhookEndpoint', 'Create a webhook endpoint'),
  'get /v1/webhook_endpoints/{endpointId}': operation(
    'getWebhookEndpoint',
    'Get a webhook endpoint',
    404,
  ),
  'patch /v1/webhook_endpoints/{endpointId}': operation(
    'updateWebhookEndpoint',
    'Update, disable or enable a webhook endpoint',
    404,
  ),
  'delete /v1/webhook_endpoints/{endpointId}': operation(
    'deleteWebhookEndpoint',
    'Delete a webhook endpoint',
    404,
  ),
  'post /v1/webhook_endpoints/{endpointId}/rotate': operation(
    'rotateWebhookSecret',
    'Rotate a signing secret',
    404,
    409,
  ),
  'post /v1/webhook_endpoints/{endpointId}/promote': operation(
    'promoteWebhookSecret',
    'Promote the newest signing secret',
    404,
  ),
  'post /v1/ui/webhooks/{endpointId}/test': operation(
    'testWebhookEndpoint',
    'Send a test event',
    404,
    429,
  ),
  'get /v1/ui/webhook-deliveries': operation('listWebhookDeliveries', 'List deliveries'),
  'get /v1/ui/webhook-deliveries/{deliveryId}': operation(
    'getWebhookDelivery',
    'Get a delivery',
    404,
  ),
  'post /v1/ui/webhook-deliveries/{deliveryId}/replay': operation(
    'replayWebhookDelivery',
    'Resend a delivery',
    404,
    409,
  ),
  'get /v1/ui/webhook-replays': operation('listWebhookReplays', 'List replays'),
  'post /v1/ui/webhook-replays': operation(
    'createWebhookReplay',
    'Resend many deliveries',
    404,
    409,
  ),
  'get /v1/ui/webhook-replays/{replayId}': operation('getWebhookReplay', 'Get a replay', 404),
  'post /v1/ui/webhook-replays/{replayId}/cancel': operation(
    'cancelWebhookReplay',
    'Cancel a replay',
    404,
  ),
  'get /v1/sdk/webhooks/event-types': operation('listEventTypes', 'List event types'),
  'get /v1/sdk/webhooks/event-schema': operation('getSampleEvent', 'Get a sample event'),
}
