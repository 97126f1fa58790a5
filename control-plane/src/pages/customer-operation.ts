import type { FastifyRequest } from 'fastify'
import { customerActor } from '@tollgate/domain/audit/actor'
import type { Customer } from '@tollgate/domain/customers/repository'
import type { Operation } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { Clock } from '@tollgate/platform/clock/clock'
import { originOf, type Caller } from '../access/caller.ts'

/** Returns the operation of a customer on a page, for the audit log and the outbox. */
export function operationOfCustomer(
  pages: { readonly clock: Clock },
  request: FastifyRequest,
  given: { readonly caller: Caller; readonly customer: Pick<Customer, 'reference'> },
): Operation {
  const { caller, customer } = given
  return {
    ...caller,
    now: new Date(pages.clock.now()),
    actor: customerActor(customer.reference, originOf(request)),
    requestId: request.id,
    idempotencyKey: null,
  }
}
