import { isDeepStrictEqual } from 'node:util'
import type { JsonObject } from '@tollgate/schemas/json-object'
import { queuePublication, recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { customerObject } from './customer-event.ts'
import {
  findCustomer,
  findCustomerByEmail,
  isReferenceOfDeleted,
  linkReference,
  lockCustomer,
  updateCustomer,
  type Customer,
} from './repository.ts'

/** Absent fields stay unchanged. */
export type CustomerChange = {
  readonly email?: string | undefined
  readonly name?: string | undefined
  readonly telephone?: string | undefined
  readonly externalRef?: string | undefined
  /** Null: the language of the provider. */
  readonly locale?: string | null | undefined
  readonly metadata?: JsonObject | undefined
}

export type ChangeCustomerOutcome =
  | { readonly kind: 'customer'; readonly customer: Customer }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'email-taken' }
  | { readonly kind: 'external-ref-taken' }

export async function changeCustomer(
  work: UnitOfWork,
  anyReference: string,
  change: CustomerChange,
): Promise<ChangeCustomerOutcome> {
  const { sql, providerId } = work
  const found = await findCustomer(sql, providerId, anyReference)
  const customer = found && (await lockCustomer(sql, providerId, found.reference))
  if (customer === undefined) return { kind: 'not-found' }

  const email = change.email ?? customer.email
  const emailOwner = await findCustomerByEmail(sql, providerId, email)
  if (emailOwner !== undefined && emailOwner.reference !== customer.reference) {
    return { kind: 'email-taken' }
  }
  if (change.externalRef !== undefined) {
    const isOurs = await claimExternalRef(work, customer, change.externalRef)
    if (!isOurs) return { kind: 'external-ref-taken' }
  }
  const changed: Customer = {
    ...customer,
    email,
    name: change.name ?? customer.name,
    telephone: change.telephone ?? customer.telephone,
    externalRef: change.externalRef ?? customer.externalRef,
    locale: change.locale === undefined ? customer.locale : change.locale,
    metadata: change.metadata ?? customer.metadata,
  }
  if (isDeepStrictEqual(changed, customer)) return { kind: 'customer', customer }
  const updated: Customer = { ...changed, updatedAt: work.now }
  await updateCustomer(sql, providerId, updated)
  await recordEvent(work, 'customer.updated', customerObject(updated))
  return { kind: 'customer', customer: updated }
}

/**
 * Links the external reference to the customer. Returns false if it belongs to another customer. Earlier external
 * references stay linked, so their usage still counts.
 */
async function claimExternalRef(
  work: UnitOfWork,
  customer: Customer,
  externalRef: string,
): Promise<boolean> {
  const owner = await findCustomer(work.sql, work.providerId, externalRef)
  if (owner !== undefined) return owner.reference === customer.reference
  if (await isReferenceOfDeleted(work.sql, work.providerId, externalRef)) return false
  await linkReference(work.sql, work.providerId, customer.reference, externalRef, work.now)
  await queuePublication(work, 'customer', customer.reference)
  return true
}
