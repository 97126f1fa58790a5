import type { EventObject } from '@tollgate/schemas/event-types'
import { unixSeconds } from '../periods/periods.ts'
import type { Customer } from './repository.ts'

/** Returns `data.object` of customer.updated. */
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

/**
 * Returns `data.object` of customer.created. `productRef` is the product whose MCP client the customer signed in to, or
 * null if the customer was created in another way.
 */
export function createdCustomerObject(
  customer: Customer,
  productRef: string | null,
): EventObject<'customer.created'> {
  const product = productRef === null ? null : { reference: productRef }
  return { ...customerObject(customer), product }
}
