import type { Customer } from './repository.ts'

export type CustomerRequest = {
  readonly email: string
  readonly externalRef: string | null
}

/** What is known about the request's email and external reference. */
export type KnownCustomers = {
  readonly byEmail: Customer | undefined
  /** Whoever the external reference was ever linked to. */
  readonly byExternalRef: Customer | undefined
}

export type CustomerDecision =
  | { readonly kind: 'create' }
  /** The external reference becomes this customer's. */
  | { readonly kind: 'link'; readonly customer: Customer }
  | { readonly kind: 'return'; readonly customer: Customer }
  | { readonly kind: 'email-taken' }
  | { readonly kind: 'email-linked-elsewhere' }

/** What creating a customer comes down to: a customer is never made twice, and a link is never taken away. */
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
