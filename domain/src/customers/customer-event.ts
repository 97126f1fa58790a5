import type { EventObject } from '@tollgate/schemas/event-types'
import { unixSeconds } from '../outbox/unix-seconds.ts'
import type { Customer } from './repository.ts'

/** `data.object` of customer.updated. */
export function customerObject(customer: Customer): EventObject<'customer.updated'> {
  return {
    id: customer.reference,
    reference: customer.reference,
    name: customer.name,
    email: customer.email,
    telephone: customer.telephone,
    status: customer.status,
    created: unixSeconds(customer.createdAt),
  }
}

/** `data.object` of customer.created: a product only after a hosted sign-in that is tied to one. */
export function createdCustomerObject(customer: Customer): EventObject<'customer.created'> {
  return { ...customerObject(customer), product: null }
}
