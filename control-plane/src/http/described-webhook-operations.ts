import { operation, type DescribedOperation } from './described-operation.ts'

/** Those of endpoints, of what is sent there, and of what there is to be told. */
export const describedWebhookOperations: Readonly<Record<string, DescribedOperation>> = {
  'get /v1/webhook_endpoints': operation('listWebhookEndpoints', 'List where events are sent'),
  'post /v1/webhook_endpoints': operation(
    'createWebhookEndpoint',
    'Have events sent somewhere; the answer alone tells the secret that they are signed with',
  ),
  'get /v1/webhook_endpoints/{endpointId}': operation(
    'getWebhookEndpoint',
    'Get an endpoint, how it does and which secrets sign',
    404,
  ),
  'patch /v1/webhook_endpoints/{endpointId}': operation(
    'updateWebhookEndpoint',
    'Change the given fields of an endpoint, disable it or enable it again',
    404,
  ),
  'delete /v1/webhook_endpoints/{endpointId}': operation(
    'deleteWebhookEndpoint',
    'Send nothing more there, and forget its secrets',
    404,
  ),
  'post /v1/webhook_endpoints/{endpointId}/rotate': operation(
    'rotateWebhookSecret',
    'Give an endpoint another secret; the old one signs beside it for a while, and first',
    404,
    409,
  ),
  'post /v1/webhook_endpoints/{endpointId}/promote': operation(
    'promoteWebhookSecret',
    'Have the newest secret of an endpoint sign first: its receiver has it now',
    404,
  ),
  'post /v1/ui/webhooks/{endpointId}/test': operation(
    'testWebhookEndpoint',
    'Send a made-up payment.succeeded to an endpoint, and tell how it answered',
    404,
    429,
  ),
  'get /v1/ui/webhook-deliveries': operation(
    'listWebhookDeliveries',
    'List what was sent to endpoints with its attempts, the newest first',
  ),
  'get /v1/ui/webhook-deliveries/{deliveryId}': operation(
    'getWebhookDelivery',
    'Get a delivery with what it was answered',
    404,
  ),
  'post /v1/ui/webhook-deliveries/{deliveryId}/replay': operation(
    'replayWebhookDelivery',
    'Send the event of a delivery to its endpoint anew, under another delivery id',
    404,
    409,
  ),
  'get /v1/ui/webhook-replays': operation(
    'listWebhookReplays',
    'List what was sent anew, the newest first',
  ),
  'post /v1/ui/webhook-replays': operation(
    'createWebhookReplay',
    'Send anew what an endpoint was sent in a time, or all that it never took',
    404,
    409,
  ),
  'get /v1/ui/webhook-replays/{replayId}': operation(
    'getWebhookReplay',
    'Get a replay with how far it came',
    404,
  ),
  'post /v1/ui/webhook-replays/{replayId}/cancel': operation(
    'cancelWebhookReplay',
    'Queue no more of a replay; what is queued is sent',
    404,
  ),
  'get /v1/sdk/webhooks/event-types': operation('listEventTypes', 'What webhooks tell of'),
  'get /v1/sdk/webhooks/event-schema': operation('getSampleEvent', 'An event as webhooks send it'),
}
