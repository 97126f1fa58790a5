import type { Customer } from './repository.ts'

export type CustomerRequest = {
  readonly email: string
  readonly externalRef: string | null
}

/** Existing customers with the request's email or external reference. */
export type KnownCustomers = {
  readonly byEmail: Customer | undefined
  /** The active customer to whom the external reference is linked. */
  readonly byExternalRef: Customer | undefined
}

export type CustomerDecision =
  | { readonly kind: 'create' }
  /** The external reference is linked to this customer. */
  | { readonly kind: 'link'; readonly customer: Customer }
  | { readonly kind: 'return'; readonly customer: Customer }
  | { readonly kind: 'email-taken' }
  | { readonly kind: 'email-linked-elsewhere' }

/**
 * Decides whether to create a customer, link the external reference, or return an existing customer. Never creates a
 * customer twice, and never removes a link.
 */
export function decideCustomer(request: CustomerRequest, known: KnownCustomers): CustomerDecision {
  const { byEmail, byExternalRef } = known
  if (request.externalRef === null) {
    return byEmail === undefined ? { kind: 'create' } : { kind: 'email-taken' }
  }
  if (byExternalRef !== undefined) return { kind: 'return', customer: byExternalRef }
  if (byEmail === undefined) return { kind: 'create' }
  if (byEmail.externalRef !== null) return { kind: 'email-linked-elsewhere' }
  return { kind: 'link', customer: byEmail }
}
