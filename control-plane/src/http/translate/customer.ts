import type { Customer } from '@tollgate/domain/customers/repository'
import type { CustomerSummaryBody } from '@tollgate/schemas/http/console-lists'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import type { PurchaseBriefBody } from '@tollgate/schemas/http/purchases'
import { definedFields } from '../../domain/defined-fields.ts'

export function customerSummaryToHttp(customer: Customer): CustomerSummaryBody {
  return {
    reference: customer.reference,
    name: customer.name ?? '',
    email: customer.email,
    status: customer.status,
    created: customer.createdAt.toISOString(),
    metadata: customer.metadata,
    ...definedFields({
      externalRef: customer.externalRef,
      telephone: customer.telephone,
      locale: customer.locale,
    }),
  }
}

/** Converts a customer. `purchases` are its purchases that give access. */
export function customerToHttp(
  customer: Customer,
  purchases: readonly PurchaseBriefBody[],
): CustomerBody {
  return {
    ...customerSummaryToHttp(customer),
    ...definedFields({ testClock: customer.testClockRef }),
    purchases: [...purchases],
  }
}
