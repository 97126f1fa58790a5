import { newId, type World } from '../store/world.ts'
import { present } from './present.ts'

export const apiVersion = '2026-10-28.endive'

/** Stores an event and queues its deliveries to the subscribed endpoints. The event contains the current state of the object. */
export function emit(world: World, type: string, object: object, previous?: object): void {
  const id = newId('evt_')
  const endpoints = [...world.list('webhook_endpoint')].filter(
    ({ status, enabled_events }) =>
      status === 'enabled' && (enabled_events.includes('*') || enabled_events.includes(type)),
  )
  const livemode = world.mode === 'live'
  world.add('event', {
    id,
    object: 'event',
    api_version: apiVersion,
    created: world.now,
    livemode,
    type,
    pending_webhooks: endpoints.length,
    request: {
      id: world.request?.id ?? null,
      idempotency_key: world.request?.idempotencyKey ?? null,
    },
    data: {
      object: present(object),
      ...(previous !== undefined && { previous_attributes: previous }),
    },
  })
  for (const endpoint of endpoints) world.deliver({ event: id, endpoint: endpoint.id, attempts: 0 })
}
