import type { ReactivateRefusal } from '@tollgate/domain/purchases/reactivate-purchase'
import type { KeyScope } from '@tollgate/schemas/key-scopes'
import { invalidEmailMessage } from '@tollgate/schemas/http/fields'

/** A refusal that the caller is told about, with exactly this body. */
export class RefusalError extends Error {
  override readonly name = 'RefusalError'
  readonly statusCode: number
  readonly body: Readonly<Record<string, unknown>>
  readonly retryAfterSeconds: number | undefined

  constructor(statusCode: number, error: string, message: string, retryAfterSeconds?: number) {
    super(message)
    this.statusCode = statusCode
    this.body = { statusCode, error, message }
    this.retryAfterSeconds = retryAfterSeconds
  }
}

const badRequest = (message: string) => new RefusalError(400, 'Bad Request', message)
const notFound = (message: string) => new RefusalError(404, 'Not Found', message)
const conflict = (message: string) => new RefusalError(409, 'Conflict', message)
const unavailable = (message: string) => new RefusalError(503, 'Service Unavailable', message, 1)

const reactivateMessages: Record<ReactivateRefusal, (ref: string, status: string) => string> = {
  'fully-cancelled': (ref) => `Purchase ${ref} has already been fully cancelled`,
  ended: (ref) => `Purchase ${ref} has already ended`,
  'not-pending-cancellation': (ref) => `Purchase ${ref} is not pending cancellation`,
  'other-status': (ref, status) => `Purchase ${ref} is ${status} and cannot be reactivated`,
}

/**
 * Every refusal of this service. Clients match parts of these texts, see the wire contract before changing one. What
 * belongs to another provider or environment is refused with the same words as what does not exist.
 */
export const refusals = {
  badKey: () => new RefusalError(401, 'Unauthorized', 'Invalid or expired secret key'),
  scopeMissing: (scope: KeyScope) =>
    new RefusalError(403, 'Forbidden', `This key does not have the scope ${scope}`),
  keyNotFound: (keyId: string) => notFound(`Key ${keyId} not found`),
  keyExpired: (keyId: string) => badRequest(`Key ${keyId} has expired`),
  keyRevoked: (keyId: string) => badRequest(`Key ${keyId} is revoked`),
  keyExpiresInThePast: () => badRequest('expiresAt is in the past'),
  routeNotFound: (method: string, path: string) => notFound(`Cannot ${method} ${path}`),

  customerQueryAmbiguous: () =>
    badRequest('Must provide exactly one of reference, externalRef, or email'),
  customerQueryNotFound: () => notFound('Customer not found'),
  customerNotFound: (reference: string) =>
    notFound(`Customer with reference ${reference} not found`),
  invalidEmail: () => badRequest(invalidEmailMessage),
  emailTaken: (email: string) => conflict(`Customer with identifier email ${email} already exists`),
  emailLinkedElsewhere: (email: string) =>
    conflict(
      `Customer with identifier email ${email} already exists and is linked to another externalRef`,
    ),
  externalRefTaken: (externalRef: string) =>
    conflict(`Customer with identifier externalRef ${externalRef} already exists`),

  productNotFound: (reference: string) => notFound(`Product with reference ${reference} not found`),
  planNotFound: (reference: string) => notFound(`Plan with reference ${reference} not found`),
  planInvalid: (message: string) => badRequest(message),
  purchaseNotFound: (reference: string) =>
    notFound(`Purchase with reference ${reference} not found`),
  purchaseNotCancellable: (reference: string, status: string) =>
    badRequest(`Purchase ${reference} is ${status} and cannot be cancelled`),
  purchaseNotReactivable: (reference: string, reason: ReactivateRefusal, status: string) =>
    badRequest(reactivateMessages[reason](reference, status)),
  customerSessionNotFound: (sessionId: string) =>
    notFound(`Customer session not found: ${sessionId}`),
  checkoutNeedsProduct: () => badRequest('productRef is required unless purpose is credit_topup'),
  productUnavailable: (reference: string) => badRequest(`Product ${reference} is not active`),
  planUnavailable: (reference: string) => badRequest(`Plan ${reference} cannot be bought`),

  autoRechargeInvalid: (message: string) => badRequest(message),
  dollarHasNoRate: () => badRequest('USD is what other currencies are counted in'),

  assetNotFound: (sha256: string) => notFound(`There is no picture ${sha256}`),
  notAPicture: () =>
    new RefusalError(415, 'Unsupported Media Type', 'Expected a PNG, JPEG, WebP or GIF picture'),

  meterNotFound: (reference: string) => notFound(`Meter with reference ${reference} not found`),
  meterNameTaken: (name: string) => conflict(`Meter with name ${name} already exists`),
  meterPermanent: (name: string) => badRequest(`Meter ${name} cannot be archived`),

  usageBehind: () =>
    unavailable('Usage that was just accepted is not stored yet. Retry in a moment'),
  countersBehind: () =>
    unavailable('Usage that was just accepted is not counted yet. Retry in a moment'),
  reservationsFull: () => unavailable('Too many reservations are held. Retry in a moment'),
  partUnavailable: () => unavailable('A part of the service is not available. Retry in a moment'),
} as const
