import type { JsonObject } from '@tollgate/schemas/json-object'
import { drawReference } from '../unit-of-work/draw-reference.ts'
import { queuePublication, recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { createdCustomerObject, customerObject } from './customer-event.ts'
import { decideCustomer, type CustomerDecision } from './decide-customer.ts'
import {
  findCustomer,
  findCustomerByEmail,
  insertCustomer,
  isReferenceOfDeleted,
  linkReference,
  lockCustomer,
  updateCustomer,
  type Customer,
} from './repository.ts'

export type NewCustomer = {
  readonly email: string
  readonly name: string | null
  readonly telephone: string | null
  readonly externalRef: string | null
  readonly metadata: JsonObject
}

export type CreateOrLinkOutcome =
  | { readonly kind: 'customer'; readonly customer: Customer }
  | { readonly kind: 'email-taken' }
  | { readonly kind: 'email-linked-elsewhere' }
  | { readonly kind: 'external-ref-taken' }

/**
 * Twins that run at once both decide to create; the unique constraints let one of them commit, and the other's unit
 * of work runs again and finds it.
 */
export async function createOrLinkCustomer(
  work: UnitOfWork,
  request: NewCustomer,
): Promise<CreateOrLinkOutcome> {
  const { sql, providerId } = work
  const { externalRef } = request
  if (externalRef !== null && (await isReferenceOfDeleted(sql, providerId, externalRef))) {
    return { kind: 'external-ref-taken' }
  }
  let decision = await decide(work, request)
  if (decision.kind === 'link') {
    // No constraint stands between two links of one customer: the first one has the row, the others look again after it.
    await lockCustomer(sql, providerId, decision.customer.reference)
    decision = await decide(work, request)
  }
  switch (decision.kind) {
    case 'create':
      return { kind: 'customer', customer: await createCustomer(work, request) }
    case 'link':
      return {
        kind: 'customer',
        customer: await linkCustomer(work, decision.customer, externalRef),
      }
    case 'return':
      return { kind: 'customer', customer: decision.customer }
    case 'email-taken':
    case 'email-linked-elsewhere':
      return decision
  }
}

async function decide(
  { sql, providerId }: UnitOfWork,
  request: NewCustomer,
): Promise<CustomerDecision> {
  const { email, externalRef } = request
  return decideCustomer(request, {
    byEmail: await findCustomerByEmail(sql, providerId, email),
    byExternalRef:
      externalRef === null ? undefined : await findCustomer(sql, providerId, externalRef),
  })
}

/** `productRef`: whose MCP client the customer signed in to. Breaks a unique constraint where another request was first. */
export async function createCustomer(
  work: UnitOfWork,
  request: NewCustomer,
  productRef: string | null = null,
): Promise<Customer> {
  const { sql, providerId, now } = work
  const customer: Customer = {
    ...request,
    reference: drawReference('customer'),
    status: 'active',
    createdAt: now,
    updatedAt: now,
  }
  await insertCustomer(sql, providerId, customer)
  await linkReference(sql, providerId, customer.reference, customer.reference, now)
  if (customer.externalRef !== null) {
    await linkReference(sql, providerId, customer.reference, customer.externalRef, now)
  }
  await recordEvent(work, 'customer.created', createdCustomerObject(customer, productRef))
  await queuePublication(work, 'customer', customer.reference)
  return customer
}

async function linkCustomer(
  work: UnitOfWork,
  customer: Customer,
  externalRef: string | null,
): Promise<Customer> {
  if (externalRef === null) return customer
  const linked = { ...customer, externalRef, updatedAt: work.now }
  await linkReference(work.sql, work.providerId, customer.reference, externalRef, work.now)
  await updateCustomer(work.sql, work.providerId, linked)
  await recordEvent(work, 'customer.updated', customerObject(linked))
  await queuePublication(work, 'customer', customer.reference)
  return linked
}
