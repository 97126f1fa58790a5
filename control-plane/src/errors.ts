import type { ReactivateRefusal } from '@tollgate/domain/purchases/reactivate-purchase'
import type { McpRefusalCode } from '@tollgate/domain/mcp/refusal'
import type { ConsoleRole } from '@tollgate/schemas/console-roles'
import type { KeyScope } from '@tollgate/schemas/key-scopes'
import { keyMismatchBody } from '@tollgate/schemas/http/errors'
import type {
  CustomerNotChargedBody,
  CustomerNotSettledBody,
} from '@tollgate/schemas/http/customers'
import { invalidEmailMessage } from '@tollgate/schemas/http/fields'

/** A refusal that the caller is told about, with exactly this body. */
export class RefusalError extends Error {
  override readonly name = 'RefusalError'
  readonly statusCode: number
  readonly body: Readonly<Record<string, unknown>>
  readonly retryAfterSeconds: number | undefined

  constructor(
    statusCode: number,
    body: Readonly<Record<string, unknown>>,
    retryAfterSeconds?: number,
  ) {
    super(JSON.stringify(body))
    this.statusCode = statusCode
    this.body = { statusCode, ...body }
    this.retryAfterSeconds = retryAfterSeconds
  }
}

const badRequest = (message: string) => new RefusalError(400, { error: 'Bad Request', message })
const notFound = (message: string) => new RefusalError(404, { error: 'Not Found', message })
const conflict = (message: string) => new RefusalError(409, { error: 'Conflict', message })
const forbidden = (message: string) => new RefusalError(403, { error: 'Forbidden', message })
const unavailable = (message: string) =>
  new RefusalError(503, { error: 'Service Unavailable', message }, 1)
const badGateway = (message: string) => new RefusalError(502, { error: 'Bad Gateway', message }, 1)
const unauthorized = (message: string) => new RefusalError(401, { error: 'Unauthorized', message })
const tooMany = (message: string, waitMs: number) =>
  new RefusalError(
    429,
    { error: 'Too Many Requests', message },
    Math.max(1, Math.ceil(waitMs / 1_000)),
  )

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
  badKey: () => unauthorized('Invalid or expired secret key'),
  scopeMissing: (scope: KeyScope) => forbidden(`This key does not have the scope ${scope}`),
  badAccessToken: () => unauthorized('Invalid or expired access token'),
  badSignIn: () => unauthorized('Wrong email or password'),
  wrongPassword: () => badRequest('The current password is another one'),
  tooManySignIns: (waitMs: number) => tooMany('Too many attempts to sign in. Wait a while', waitMs),
  roleTooLow: (role: ConsoleRole) => forbidden(`A user with the role ${role} may not do this`),
  notSignedIn: () => forbidden('This takes a user who is signed in, not a secret key'),
  passwordLinkBad: () => badRequest('This link has expired, or was used already'),
  consoleUserNotFound: (userId: string) => notFound(`User ${userId} not found`),
  consoleUserEmailTaken: (email: string) => conflict(`User with email ${email} already exists`),
  badPollToken: () => unauthorized('Invalid or expired poll token'),
  tooManyCliSessions: () => tooMany('Too many sessions are open. Wait a while', 60_000),
  cliSessionNotFound: (sessionId: string) => notFound(`Session ${sessionId} is not there any more`),
  cliSessionAnswered: (sessionId: string) => conflict(`Session ${sessionId} was answered already`),
  lastOwner: () => badRequest('A provider keeps at least one owner'),
  keyMisplaced: () => {
    const { statusCode, ...body } = keyMismatchBody
    return new RefusalError(statusCode, body)
  },
  /** Clients look for these keys inside the message, and beside it. */
  providerNotLive: () => {
    const facts = {
      code: 'provider_not_found_in_environment',
      requestedEnvironment: 'live',
      providerExistsInSandbox: true,
    }
    const message = { ...facts, message: 'The provider is not set up in the live environment' }
    return new RefusalError(404, { error: 'Not Found', ...facts, message })
  },
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
  /** Clients look at the code, and show the amounts. */
  customerNotSettled: (open: CustomerNotSettledBody['open']) =>
    new RefusalError(409, {
      error: 'Conflict',
      code: 'customer_not_settled',
      message:
        'The customer has open invoices, unbilled usage or bought credits. Delete it with `settle`: `bill_now` charges what is owed, `write_off` gives it up; credits are forfeited',
      open,
    }),
  customerNotCharged: (uncharged: CustomerNotChargedBody['uncharged']) => {
    const isRefused = uncharged.some(({ reason }) => reason === 'declined' || reason === 'no_card')
    return new RefusalError(isRefused ? 402 : 409, {
      error: isRefused ? 'Payment Required' : 'Conflict',
      code: 'customer_not_charged',
      message:
        'The customer was not deleted: some of what it owes could not be charged. Retry when it is paid, or delete it with `settle: "write_off"`',
      uncharged,
    })
  },
  customerBusy: () => conflict('The customer is being billed. Retry in a moment'),

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
  tooManySessions: (waitMs: number) =>
    tooMany('The customer has too many hosted pages open. Use one of them, or wait', waitMs),
  checkoutNeedsProduct: () => badRequest('productRef is required unless purpose is credit_topup'),
  productUnavailable: (reference: string) => badRequest(`Product ${reference} is not active`),
  planSoldOut: (reference: string) => badRequest(`Plan ${reference} is sold out`),
  planUnavailable: (reference: string) => badRequest(`Plan ${reference} cannot be bought`),

  idempotencyKeyReused: () => conflict('This idempotency key was used with another request'),
  walletFull: (creditsMax: string) =>
    badRequest(`A wallet is given no more than ${creditsMax} credits in all`),
  walletTooSmall: (balance: number) =>
    badRequest(`No more than the ${balance} credits of the wallet can be taken out`),
  creditsExpireInThePast: () => badRequest('expiresAt is in the past'),
  idempotencyKeyMissing: () => badRequest('idempotency-key header is required'),
  idempotencyKeyInvalid: (charsMax: number) =>
    badRequest(`Idempotency-Key must be 1 to ${charsMax} printable ASCII characters`),
  /** Clients know it in this shape. */
  paymentIntentNotFound: () =>
    new RefusalError(404, {
      success: false,
      error: 'Payment intent not found',
      code: 'PAYMENT_INTENT_NOT_FOUND',
      message: 'Payment intent not found',
    }),
  paymentRefused: (message: string) => badRequest(message),
  paymentNotSucceeded: (status: string) => badRequest(`Payment not succeeded. Status: ${status}`),
  paymentNotOpen: () =>
    badRequest('The payment is not open any more: its amount cannot be changed'),
  paymentOfAnotherCustomer: (customerRef: string) =>
    badRequest(`The payment is not of customer ${customerRef}`),
  paymentOfAnother: (kind: 'product' | 'plan', reference: string) =>
    badRequest(`The payment is not for ${kind} ${reference}`),
  usageBillingNotOnRequest: () =>
    badRequest('Payments of usage are made when their billing period ends'),
  webhookRejected: (reason: string) => badRequest(`The webhook was refused: ${reason}`),
  processorUnavailable: () => badGateway('The payment processor did not answer. Retry in a moment'),
  paymentsNotConfigured: () =>
    badGateway('This installation takes no payments: its operator has to set a key of Stripe'),
  autoRechargeInvalid: (message: string) => badRequest(message),
  dollarHasNoRate: () => badRequest('USD is what other currencies are counted in'),

  assetNotFound: (sha256: string) => notFound(`There is no picture ${sha256}`),
  notAPicture: () =>
    new RefusalError(415, {
      error: 'Unsupported Media Type',
      message: 'Expected a PNG, JPEG, WebP or GIF picture',
    }),

  /** Clients look at the code. */
  mcp: (code: McpRefusalCode, message: string) => new RefusalError(400, { code, message }),
  originUnusable: (message: string) =>
    new RefusalError(502, {
      error: 'Bad Gateway',
      message: `The origin did not tell its tools. ${message}`,
    }),
  originChanged: () => conflict('The origin was changed while it was asked: discover again'),
  secretsUnavailable: () =>
    new RefusalError(503, {
      error: 'Service Unavailable',
      message:
        'This installation cannot keep secrets: its operator has to set TOLLGATE_SECRET_KEYS',
    }),

  reconciliationNotFound: (reference: string) =>
    notFound(`Reconciliation with reference ${reference} not found`),
  invoiceNotFound: (reference: string) => notFound(`Invoice with reference ${reference} not found`),
  creditNoteNotFound: (reference: string) =>
    notFound(`Credit note with reference ${reference} not found`),
  webhookEndpointNotFound: (endpointId: string) =>
    notFound(`Webhook endpoint ${endpointId} not found`),
  webhookUrlRefused: (reason: string) => badRequest(`url ${reason}`),
  tooManyWebhookEndpoints: (endpointsMax: number) =>
    badRequest(`A provider has no more than ${endpointsMax} webhook endpoints`),
  tooManyWebhookSecrets: (secretsMax: number, freeAt: Date) =>
    conflict(
      `${secretsMax} secrets of the endpoint sign already. One of them ends at ${freeAt.toISOString()}; with an overlap of 0 hours, all of them end at once`,
    ),
  webhookTestedTooSoon: (waitMs: number) =>
    tooMany('The endpoint was sent a test a moment ago', waitMs),
  webhookEndpointDeleted: () => badRequest('The endpoint of the delivery was deleted'),
  webhookDeliveryNotFound: (deliveryId: string) =>
    notFound(`Webhook delivery ${deliveryId} not found`),
  webhookPageUnknown: (deliveryId: string) =>
    badRequest(`before: webhook delivery ${deliveryId} is not kept`),
  webhookReplayOfLater: () => badRequest('from has not come yet: there is nothing to send anew'),
  webhookDeliveryWaits: (deliveryId: string) =>
    conflict(`Webhook delivery ${deliveryId} waits to be sent`),
  webhookReplayNotFound: (replayId: string) => notFound(`Webhook replay ${replayId} not found`),
  webhookReplayRunning: (replayId: string) =>
    conflict(`Webhook replay ${replayId} to the endpoint is running: cancel it, or let it finish`),
  eventNotFound: (eventId: string) => notFound(`Event ${eventId} not found`),
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
