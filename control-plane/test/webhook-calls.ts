import { alertCalls } from './alert-calls.ts'
import { emailCalls } from './email-calls.ts'
import type { Database } from '@tollgate/platform/database/database'

type Send = (path: string, body: unknown, method?: string) => Promise<Record<string, string>>

/** Returns a request for each route that changes an alert, an email or an endpoint, or resends events. Earlier requests create what later ones need. */
export function webhookCalls(
  refs: Record<string, string>,
  send: Send,
  pool: () => ReturnType<Database['in']>,
): Record<string, (path: string) => Promise<unknown>> {
  refs['deliveryId'] = 'dlv_1'
  return {
    ...alertCalls(refs, send),
    ...emailCalls(refs, send, pool),
    'POST /v1/webhook_endpoints': async (path) => {
      refs['endpointId'] = (await send(path, { url: 'https://hooks.example.com' }))['id']!
    },
    'PATCH /v1/webhook_endpoints/:endpointId': (path) =>
      send(path, { enabledEvents: ['payment.failed'] }, 'PATCH'),
    'PUT /v1/webhook_endpoints/:endpointId': (path) => send(path, { status: 'disabled' }, 'PUT'),
    'POST /v1/webhook_endpoints/:endpointId/rotate': (path) => send(path, {}),
    'POST /v1/webhook_endpoints/:endpointId/promote': (path) => send(path, {}),
    'POST /v1/ui/webhooks/:endpointId/test': (path) => send(path, {}),
    'POST /v1/ui/webhook-deliveries/:deliveryId/replay': async (path) => {
      await pool()`
        with event as (
          insert into outbox (event_id, provider_id, type, livemode, object, created_at)
          select 'evt_1', provider_id, 'payment.failed', false, '{}', now()
          from webhook_endpoints where reference = ${refs['endpointId']!}
        )
        insert into webhook_deliveries
          (provider_id, reference, endpoint_ref, event_id, event_type, state, due_at, created_at)
        select provider_id, ${refs['deliveryId']!}, reference, 'evt_1', 'payment.failed', 'failed', now(), now()
        from webhook_endpoints where reference = ${refs['endpointId']!}`
      await send(path, {})
    },
    'POST /v1/ui/webhook-replays': async (path) => {
      const again = { endpointId: refs['endpointId'], onlyFailed: true }
      refs['replayId'] = (await send(path, again))['id']!
    },
    'POST /v1/ui/webhook-replays/:replayId/cancel': (path) => send(path, {}),
    'DELETE /v1/webhook_endpoints/:endpointId': (path) => send(path, undefined, 'DELETE'),
  }
}
