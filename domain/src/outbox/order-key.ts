import type { OutboxEvent } from './outbox-event.ts'

/** Of which customer an event tells, as `outbox.order_key` has it. Events without one are in no order. */
export function orderKeyOf({ type, object }: Pick<OutboxEvent, 'type' | 'object'>): string | null {
  const key = customerTypes.has(type)
    ? object['id']
    : (object['customer'] ?? object['customerId'] ?? object['customerRef'])
  return typeof key === 'string' ? key : null
}

const customerTypes: ReadonlySet<string> = new Set([
  'customer.created',
  'customer.updated',
  'customer.deleted',
])
