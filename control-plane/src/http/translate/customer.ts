import type { Customer } from '@tollgate/domain/customers/repository'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import type { PurchaseBriefBody } from '@tollgate/schemas/http/purchases'
import { present } from './present.ts'

/** `purchases` are the ones that give access. */
export function customerToHttp(
  customer: Customer,
  purchases: readonly PurchaseBriefBody[],
): CustomerBody {
  return {
    reference: customer.reference,
    name: customer.name ?? '',
    email: customer.email,
    status: customer.status,
    created: customer.createdAt.toISOString(),
    metadata: customer.metadata,
    purchases: [...purchases],
    ...present({ externalRef: customer.externalRef, telephone: customer.telephone }),
  }
}
