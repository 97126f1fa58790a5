import { newId, type UnitOfWork } from '../store/unit-of-work.ts'
import { present } from './present.ts'

export const apiVersion = '2026-10-28.endive'

/** Stores an event and queues its deliveries to the subscribed endpoints. The event contains the current state of the object. */
export function emit(work: UnitOfWork, type: string, object: object, previous?: object): void {
  const id = newId('evt_')
  const endpoints = [...work.list('webhook_endpoint')].filter(
    ({ status, enabled_events }) =>
      status === 'enabled' && (enabled_events.includes('*') || enabled_events.includes(type)),
  )
  const livemode = work.mode === 'live'
  work.add('event', {
    id,
    object: 'event',
    api_version: apiVersion,
    created: work.now,
    livemode,
    type,
    pending_webhooks: endpoints.length,
    request: {
      id: work.request?.id ?? null,
      idempotency_key: work.request?.idempotencyKey ?? null,
    },
    data: {
      object: present(object),
      ...(previous !== undefined && { previous_attributes: previous }),
    },
  })
  for (const endpoint of endpoints)
    work.scheduleDelivery({ event: id, endpoint: endpoint.id, attempts: 0 })
}
