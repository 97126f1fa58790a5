import type { JsonObject } from '@tollgate/schemas/json-object'
import { testClockCustomersMax } from '@tollgate/schemas/limits'
import { listCustomersOfClock, lockTestClock } from '../test-clocks/repository.ts'
import { generateReference } from '../unit-of-work/generate-reference.ts'
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
  readonly locale: string | null
  readonly metadata: JsonObject
  /** The customer's test clock. Absent or null for real time. */
  readonly testClockRef?: string | null
}

export type CreateOrLinkOutcome =
  | { readonly kind: 'customer'; readonly customer: Customer }
  | { readonly kind: 'email-taken' }
  | { readonly kind: 'email-linked-elsewhere' }
  | { readonly kind: 'external-ref-taken' }
  | { readonly kind: 'clock-not-found' }
  | { readonly kind: 'clock-full' }
  /** The customer exists and lives by another time. */
  | { readonly kind: 'on-other-clock' }

/**
 * Returns the existing customer, links the external reference to it, or creates a customer. Concurrent identical
 * requests may both decide to create. Unique constraints then let one of them commit. The unit of work of the other one
 * runs again and finds the customer.
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
  const { testClockRef } = request
  if (testClockRef !== undefined && testClockRef !== null) {
    const clock = await lockTestClock(sql, providerId, testClockRef)
    if (clock === undefined || clock.isDeleting) return { kind: 'clock-not-found' }
  }
  let decision = await decide(work, request)
  if (decision.kind === 'link') {
    // No unique constraint prevents two links of one customer. The lock lets one request link at a time, and the next
    // one decides again.
    await lockCustomer(sql, providerId, decision.customer.reference)
    decision = await decide(work, request)
  }
  if (isOnOtherClock(decision, testClockRef)) return { kind: 'on-other-clock' }
  switch (decision.kind) {
    case 'create':
      if (await isClockFull(work, testClockRef)) return { kind: 'clock-full' }
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

/** Only a request that names a clock can contradict that of the customer. */
function isOnOtherClock(decision: CustomerDecision, testClockRef: string | null | undefined) {
  if (testClockRef === undefined || testClockRef === null) return false
  const isKnown = decision.kind === 'link' || decision.kind === 'return'
  return isKnown && decision.customer.testClockRef !== testClockRef
}

/** The lock of the clock keeps concurrent requests from exceeding the limit. */
async function isClockFull(
  { sql, providerId }: UnitOfWork,
  testClockRef: string | null | undefined,
): Promise<boolean> {
  if (testClockRef === undefined || testClockRef === null) return false
  const customers = await listCustomersOfClock(sql, providerId, testClockRef)
  return customers.length >= testClockCustomersMax
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

/**
 * Creates a customer. `productRef` is the product whose MCP client the customer signed in to. Violates a unique
 * constraint if a concurrent request has created the customer first.
 */
export async function createCustomer(
  work: UnitOfWork,
  request: NewCustomer,
  productRef: string | null = null,
): Promise<Customer> {
  const { sql, providerId, now } = work
  const customer: Customer = {
    ...request,
    testClockRef: request.testClockRef ?? null,
    reference: generateReference('customer'),
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
