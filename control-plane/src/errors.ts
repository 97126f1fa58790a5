import type { ReactivateRefusal } from '@tollgate/domain/purchases/reactivate-purchase'
import type { McpRefusalCode } from '@tollgate/domain/mcp/refusal'
import type { ConsoleRole } from '@tollgate/schemas/console-roles'
import type { KeyScope } from '@tollgate/schemas/key-scopes'
import type { ErrorCode } from '@tollgate/schemas/http/error-codes'
import { keyMismatchBody, type ValidationIssue } from '@tollgate/schemas/http/errors'
import {
  bodyMessages,
  bodyTooLargeMessage,
  idempotencyKeyMessage,
  keyMessages,
  methodMessage,
  missingScopeMessage,
  unsupportedMediaTypeMessage,
  type BodyFault,
  type KeyFault,
} from '@tollgate/schemas/http/same-words'
import type {
  CustomerNotChargedBody,
  CustomerNotSettledBody,
} from '@tollgate/schemas/http/customers'
import { invalidEmailMessage } from '@tollgate/schemas/http/fields'
import { overrideVersionsMax } from '@tollgate/schemas/limits'
import { creditScheduleRefusals } from './credit-schedule-refusals.ts'
import { planMigrationRefusals } from './plan-migration-refusals.ts'
import { testClockRefusals } from './test-clock-refusals.ts'
import { couponRefusals } from './coupon-refusals.ts'
import { invoiceRefusals } from './invoice-refusals.ts'
import { phraseOf, refusal, RefusalError, refusalWithWait, temporaryRefusal } from './refusal.ts'

/** The request does not match its schema, or it is strict and has a name that the operation does not define. */
export class InvalidRequestError extends Error {
  override readonly name = 'InvalidRequestError'
  readonly issues: readonly ValidationIssue[]
  readonly code: ErrorCode
  /** Part of the request that failed, if Fastify validated it. */
  readonly validationContext?: string

  constructor(issues: readonly ValidationIssue[], code: ErrorCode = 'validation_failed') {
    super('Validation failed')
    this.issues = issues
    this.code = code
  }
}

/** Returns the refusal of a request with one invalid field. */
export function invalidField(field: string, message: string): InvalidRequestError {
  return new InvalidRequestError([{ code: 'custom', path: [field], message }])
}

const reactivateMessages: Record<ReactivateRefusal, (ref: string, status: string) => string> = {
  'fully-cancelled': (ref) => `Purchase ${ref} has already been fully cancelled`,
  ended: (ref) => `Purchase ${ref} has already ended`,
  'not-pending-cancellation': (ref) => `Purchase ${ref} is not pending cancellation`,
  'other-status': (ref, status) => `Purchase ${ref} is ${status} and cannot be reactivated`,
}

/**
 * Every refusal of this service. Clients match parts of these texts: read the wire contract before you change one. An object of
 * another provider or environment is refused with the same text as an object that does not exist.
 */
export const refusals = {
  badKey: (fault: KeyFault) => refusal(fault, keyMessages[fault]),
  scopeMissing: (scope: KeyScope) => refusal('missing_scope', missingScopeMessage(scope)),
  badAccessToken: () => refusal('invalid_access_token', 'Invalid or expired access token'),
  badSignIn: () => refusal('invalid_credentials', 'Wrong email or password'),
  wrongPassword: () => refusal('wrong_password', 'The current password is another one'),
  tooManySignIns: (waitMs: number) =>
    refusalWithWait('too_many_attempts', 'Too many attempts to sign in. Wait a while', waitMs),
  roleTooLow: (role: ConsoleRole) =>
    refusal('missing_role', `A user with the role ${role} may not do this`),
  notSignedIn: () =>
    refusal('user_required', 'This takes a user who is signed in, not a secret key'),
  passwordLinkInvalid: () =>
    refusal('password_link_invalid', 'This link has expired, or was used already'),
  consoleUserNotFound: (userId: string) =>
    refusal('console_user_not_found', `User ${userId} not found`),
  consoleUserEmailTaken: (email: string) =>
    refusal('email_taken', `User with email ${email} already exists`),
  badPollToken: () => refusal('invalid_poll_token', 'Invalid or expired poll token'),
  tooManyCliSessions: () =>
    refusalWithWait('too_many_attempts', 'Too many sessions are open. Wait a while', 60_000),
  cliSessionNotFound: (sessionId: string) =>
    refusal('cli_session_not_found', `Session ${sessionId} is not there any more`),
  cliSessionAnswered: (sessionId: string) =>
    refusal('cli_session_answered', `Session ${sessionId} was answered already`),
  lastOwner: () => refusal('last_owner', 'A provider keeps at least one owner'),
  keyMisplaced: () => {
    const { statusCode, ...body } = keyMismatchBody
    return new RefusalError(statusCode, body)
  },
  /** Clients read these keys both inside the message and beside it. */
  providerNotLive: () => {
    const facts = {
      code: 'provider_not_found_in_environment' as const,
      requestedEnvironment: 'live',
      providerExistsInSandbox: true,
    }
    const message = { ...facts, message: 'The provider is not set up in the live environment' }
    return new RefusalError(404, { error: 'Not Found', ...facts, message })
  },
  usageCorrectionNotFound: (reference: string) =>
    refusal('usage_correction_not_found', `Correction ${reference} not found`),
  correctionTooLarge: (recordsMax: number) =>
    refusal(
      'usage_correction_too_large',
      `A dry run is limited to ${recordsMax} records. Choose a smaller filter`,
    ),
  keyNotFound: (keyId: string) => refusal('api_key_not_found', `Key ${keyId} not found`),
  keyExpired: (keyId: string) => refusal('api_key_expired', `Key ${keyId} has expired`),
  keyRevoked: (keyId: string) => refusal('api_key_revoked', `Key ${keyId} is revoked`),
  keyExpiresInThePast: () => refusal('expiry_in_past', 'expiresAt is in the past'),
  routeNotFound: (method: string, path: string) =>
    refusal('route_not_found', `Cannot ${method} ${path}`),
  methodNotAllowed: (allowed: readonly string[]) =>
    refusal('method_not_allowed', methodMessage(allowed), { allow: allowed.join(', ') }),
  badBody: (fault: BodyFault) => refusal(fault, bodyMessages[fault]),
  unsafeJson: () =>
    refusal('unsafe_json', 'The body has a key that could change a prototype. Rename the key'),
  bodyTooLarge: (bytesMax: number) => refusal('body_too_large', bodyTooLargeMessage(bytesMax)),
  unsupportedMediaType: () => refusal('unsupported_media_type', unsupportedMediaTypeMessage),
  /** A refusal by Fastify itself, before or without a route. The message is the one of Fastify. */
  malformedRequest: (statusCode: number, message: string) =>
    new RefusalError(statusCode, {
      error: phraseOf(statusCode),
      message,
      code: 'malformed_request',
    }),
  internalError: () => refusal('internal_error', 'Internal server error'),

  customerQueryAmbiguous: () =>
    refusal(
      'ambiguous_customer_query',
      'Must provide exactly one of reference, externalRef, or email',
    ),
  customerQueryNotFound: () => refusal('customer_not_found', 'Customer not found'),
  customerNotFound: (reference: string) =>
    refusal('customer_not_found', `Customer with reference ${reference} not found`),
  invalidEmail: () => refusal('invalid_email', invalidEmailMessage),
  emailTaken: (email: string) =>
    refusal('email_taken', `Customer with identifier email ${email} already exists`),
  emailLinkedElsewhere: (email: string) =>
    refusal(
      'email_taken',
      `Customer with identifier email ${email} already exists and is linked to another externalRef`,
    ),
  externalRefTaken: (externalRef: string) =>
    refusal(
      'external_ref_taken',
      `Customer with identifier externalRef ${externalRef} already exists`,
    ),
  /** Clients match the code and show the amounts. */
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
  customerBusy: () => refusal('customer_busy', 'The customer is being billed. Retry in a moment'),

  productNotFound: (reference: string) =>
    refusal('product_not_found', `Product with reference ${reference} not found`),
  planNotFound: (reference: string) =>
    refusal('plan_not_found', `Plan with reference ${reference} not found`),
  planInvalid: (message: string) => refusal('plan_invalid', message),
  purchaseNotFound: (reference: string) =>
    refusal('purchase_not_found', `Purchase with reference ${reference} not found`),
  purchaseNotCancellable: (reference: string, status: string) =>
    refusal(
      'purchase_not_cancellable',
      `Purchase ${reference} is ${status} and cannot be cancelled`,
    ),
  purchaseNotReactivable: (reference: string, reason: ReactivateRefusal, status: string) =>
    refusal('purchase_not_reactivable', reactivateMessages[reason](reference, status)),
  customerSessionNotFound: (sessionId: string) =>
    refusal('customer_session_not_found', `Customer session not found: ${sessionId}`),
  tooManySessions: (waitMs: number) =>
    refusalWithWait(
      'too_many_sessions',
      'The customer has too many hosted pages open. Use one of them, or wait',
      waitMs,
    ),
  checkoutNeedsProduct: () =>
    refusal('product_required', 'productRef is required unless purpose is credit_topup'),
  productUnavailable: (reference: string) =>
    refusal('product_unavailable', `Product ${reference} is not active`),
  planSoldOut: (reference: string) => refusal('plan_unavailable', `Plan ${reference} is sold out`),
  planUnavailable: (reference: string) =>
    refusal('plan_unavailable', `Plan ${reference} cannot be bought`),

  idempotencyKeyReused: () =>
    refusal('idempotency_key_reused', 'This idempotency key was used with another request'),
  walletFull: (creditsMax: string) =>
    refusal('wallet_full', `A wallet is given no more than ${creditsMax} credits in all`),
  walletTooSmall: (balance: number) =>
    refusal(
      'wallet_too_small',
      `No more than the ${balance} credits of the wallet can be taken out`,
    ),
  creditsExpireInThePast: () => refusal('expiry_in_past', 'expiresAt is in the past'),
  idempotencyKeyMissing: () =>
    refusal('idempotency_key_required', 'idempotency-key header is required'),
  idempotencyKeyInvalid: (charsMax: number) =>
    refusal('invalid_idempotency_key', idempotencyKeyMessage(charsMax)),
  /** Existing clients expect this shape. */
  paymentIntentNotFound: () =>
    new RefusalError(404, {
      success: false,
      error: 'Payment intent not found',
      code: 'PAYMENT_INTENT_NOT_FOUND',
      message: 'Payment intent not found',
    }),
  paymentRefused: (message: string) => refusal('payment_refused', message),
  paymentNotSucceeded: (status: string) =>
    refusal('payment_not_succeeded', `Payment not succeeded. Status: ${status}`),
  paymentNotOpen: () =>
    refusal('payment_not_open', 'The payment is not open any more: its amount cannot be changed'),
  paymentCustomerMismatch: (customerRef: string) =>
    refusal('payment_mismatch', `The payment is not of customer ${customerRef}`),
  paymentSaleMismatch: (kind: 'product' | 'plan', reference: string) =>
    refusal('payment_mismatch', `The payment is not for ${kind} ${reference}`),
  usageBillingNotOnRequest: () =>
    refusal(
      'usage_billed_at_period_end',
      'Payments of usage are made when their billing period ends',
    ),
  webhookRejected: (reason: string) =>
    refusal('processor_webhook_refused', `The webhook was refused: ${reason}`),
  taxServiceUnavailable: () =>
    temporaryRefusal(
      'tax_service_unavailable',
      'The tax service did not answer. Retry in a moment',
    ),
  processorUnavailable: () =>
    temporaryRefusal(
      'processor_unavailable',
      'The payment processor did not answer. Retry in a moment',
    ),
  paymentsNotConfigured: () =>
    temporaryRefusal(
      'payments_not_configured',
      'This installation takes no payments: its operator has to set a key of Stripe',
    ),
  autoRechargeInvalid: (message: string) => refusal('auto_recharge_invalid', message),
  dollarHasNoRate: () =>
    refusal('exchange_rate_fixed', 'USD is what other currencies are counted in'),

  assetNotFound: (sha256: string) => refusal('image_not_found', `There is no picture ${sha256}`),
  notAnImage: () => refusal('unsupported_media_type', 'Expected a PNG, JPEG, WebP or GIF picture'),

  /** Clients match the code. */
  mcp: (code: McpRefusalCode, message: string) => new RefusalError(400, { code, message }),
  originUnusable: (message: string) =>
    refusal('origin_unusable', `The origin did not tell its tools. ${message}`),
  originChanged: () =>
    refusal('origin_changed', 'The origin was changed while it was asked: discover again'),
  secretsUnavailable: () =>
    refusal(
      'secrets_unavailable',
      'This installation cannot keep secrets: its operator has to set TOLLGATE_SECRET_KEYS',
    ),

  reconciliationNotFound: (reference: string) =>
    refusal('reconciliation_not_found', `Reconciliation with reference ${reference} not found`),
  customerWithoutTaxId: (reference: string, taxId?: string) =>
    refusal(
      'customer_without_tax_id',
      `Customer ${reference} has no tax id${taxId === undefined ? '' : ` ${taxId}`}`,
    ),
  webhookEndpointNotFound: (endpointId: string) =>
    refusal('webhook_endpoint_not_found', `Webhook endpoint ${endpointId} not found`),
  taxServiceUrlRefused: (reason: string) => refusal('tax_service_url_refused', `url ${reason}`),
  webhookUrlRefused: (reason: string) => refusal('webhook_url_refused', `url ${reason}`),
  tooManyWebhookEndpoints: (endpointsMax: number) =>
    refusal(
      'too_many_webhook_endpoints',
      `A provider has no more than ${endpointsMax} webhook endpoints`,
    ),
  tooManyWebhookSecrets: (secretsMax: number, freeAt: Date) =>
    refusal(
      'too_many_webhook_secrets',
      `${secretsMax} secrets of the endpoint sign already. One of them ends at ${freeAt.toISOString()}; with an overlap of 0 hours, all of them end at once`,
    ),
  webhookTestedTooSoon: (waitMs: number) =>
    refusalWithWait('too_many_attempts', 'The endpoint was sent a test a moment ago', waitMs),
  webhookEndpointDeleted: () =>
    refusal('webhook_endpoint_deleted', 'The endpoint of the delivery was deleted'),
  emailNotFound: (emailId: string) => refusal('email_not_found', `Email ${emailId} not found`),
  emailPageUnknown: (emailId: string) =>
    refusal('email_page_unknown', `before: email ${emailId} is not stored`),
  emailNotResendable: (emailId: string, state: string) =>
    refusal(
      'email_not_resendable',
      `Email ${emailId} is ${state}. Only unknown, failed and skipped emails can be sent again`,
    ),
  emailSuppressionNotFound: (suppressionId: string) =>
    refusal('email_suppression_not_found', `Email suppression ${suppressionId} not found`),
  webhookDeliveryNotFound: (deliveryId: string) =>
    refusal('webhook_delivery_not_found', `Webhook delivery ${deliveryId} not found`),
  webhookPageUnknown: (deliveryId: string) =>
    refusal('webhook_page_unknown', `before: webhook delivery ${deliveryId} is not kept`),
  webhookReplayInFuture: () =>
    refusal('replay_in_future', 'from has not come yet: there is nothing to send anew'),
  webhookDeliveryPending: (deliveryId: string) =>
    refusal('webhook_delivery_pending', `Webhook delivery ${deliveryId} waits to be sent`),
  webhookReplayNotFound: (replayId: string) =>
    refusal('webhook_replay_not_found', `Webhook replay ${replayId} not found`),
  webhookReplayRunning: (replayId: string) =>
    refusal(
      'webhook_replay_running',
      `Webhook replay ${replayId} to the endpoint is running: cancel it, or let it finish`,
    ),
  eventNotFound: (eventId: string) => refusal('event_not_found', `Event ${eventId} not found`),
  alertNotFound: (reference: string) =>
    refusal('alert_not_found', `Alert with reference ${reference} not found`),
  alertExists: () =>
    refusal('alert_exists', 'This limit of the customer or plan has an alert already'),
  tooManyAlerts: (max: number) =>
    refusal('too_many_alerts', `A provider can have ${max} alerts that are not of one customer`),
  ...testClockRefusals,
  ...planMigrationRefusals,
  ...creditScheduleRefusals,
  ...invoiceRefusals,
  ...couponRefusals,
  meterNotFound: (reference: string) =>
    refusal('meter_not_found', `Meter with reference ${reference} not found`),
  meterNameTaken: (name: string) =>
    refusal('meter_name_taken', `Meter with name ${name} already exists`),
  tooManyOverrideChanges: () =>
    refusal(
      'override_changes_exceeded',
      `The overrides of this customer were changed ${overrideVersionsMax} times`,
    ),
  meterCharged: (name: string, plans: readonly string[]) =>
    refusal(
      'meter_charged',
      `Meter ${name} is charged or limited by ${plans.join(', ')}. Create another meter for the new events or dimensions, and change the plans to it`,
    ),
  meterPermanent: (name: string) => refusal('meter_permanent', `Meter ${name} cannot be archived`),

  tooManyOwnExports: (count: number) =>
    temporaryRefusal(
      'too_many_exports',
      `${count === 1 ? 'Another file' : `${count} other files`} of your usage ${count === 1 ? 'is' : 'are'} being sent. Retry when one is complete`,
    ),
  tooManyExports: () =>
    temporaryRefusal('overloaded', 'Too many files of usage are being sent. Retry in a moment'),
  tooManyPreviews: () =>
    temporaryRefusal('overloaded', 'Too many previews are being computed. Retry in a moment'),
  usageBehind: () =>
    temporaryRefusal(
      'usage_behind',
      'Usage that was just accepted is not stored yet. Retry in a moment',
    ),
  countersBehind: () =>
    temporaryRefusal(
      'usage_behind',
      'Usage that was just accepted is not counted yet. Retry in a moment',
    ),
  reservationGone: () =>
    refusal(
      'reservation_gone',
      'The reservation was used, released or has expired. Make a new one',
    ),
  reservationTooLong: (latest: string) =>
    refusal(
      'reservation_too_long',
      `The reservation can be held until ${latest}. Extend it for a shorter time`,
    ),
  reservationsFull: () =>
    temporaryRefusal('reservations_full', 'Too many reservations are held. Retry in a moment'),
  partUnavailable: () =>
    temporaryRefusal('unavailable', 'A part of the service is not available. Retry in a moment'),
} as const
