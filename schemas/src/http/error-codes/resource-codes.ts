import { define } from './definition.ts'

const checkReference = 'Check the reference, and that the key is of the same environment.'
const chooseAnother = 'Choose another value, or use the one that exists.'

/** Error codes of catalog, customers, purchases, usage and webhooks. */
export const resourceCodes = {
  customer_not_found: define(404, 'The provider has no such customer.', checkReference),
  product_not_found: define(404, 'The provider has no such product.', checkReference),
  plan_not_found: define(404, 'The provider has no such plan.', checkReference),
  purchase_not_found: define(404, 'The provider has no such purchase.', checkReference),
  invoice_not_found: define(404, 'The provider has no such invoice.', checkReference),
  credit_note_not_found: define(404, 'The invoice has no such credit note.', checkReference),
  invoice_item_not_found: define(
    404,
    'The customer has no such pending item.',
    'List the pending items. An item that an invoice charges cannot be removed: credit that invoice.',
  ),
  coupon_not_found: define(404, 'The provider has no such coupon.', checkReference),
  discount_not_found: define(
    404,
    'The customer has no such discount, or it has ended.',
    'List the discounts of the customer.',
  ),
  coupon_code_taken: define(
    409,
    'Another coupon has the code, in upper or lower case. Archived coupons keep theirs.',
    chooseAnother,
  ),
  coupon_not_redeemable: define(
    409,
    'The coupon cannot be redeemed: it is archived or expired, its limits are reached, or the customer has it already.',
    'Read the message, and the limits of the coupon. Choose another coupon, or raise its limit.',
  ),
  alert_not_found: define(404, 'The provider has no such alert.', checkReference),
  test_clock_not_found: define(404, 'The provider has no such test clock.', checkReference),
  usage_correction_not_found: define(
    404,
    'The provider has no such correction of usage.',
    checkReference,
  ),
  usage_correction_too_large: define(
    409,
    'The dry run of a correction would read too many records.',
    'Choose a smaller filter. The correction itself has no such limit.',
  ),
  meter_not_found: define(404, 'The provider has no such meter.', checkReference),
  event_not_found: define(404, 'The provider has no such event.', checkReference),
  api_key_not_found: define(404, 'The provider has no such key.', checkReference),
  customer_session_not_found: define(
    404,
    'The customer session does not exist or has expired.',
    'Create a new session.',
  ),
  reconciliation_not_found: define(404, 'The provider has no such reconciliation.', checkReference),
  image_not_found: define(404, 'No image has this digest.', 'Upload the image again.'),
  webhook_endpoint_not_found: define(404, 'The provider has no such endpoint.', checkReference),
  webhook_delivery_not_found: define(404, 'The provider has no such delivery.', checkReference),
  email_not_found: define(404, 'The provider has no such email.', checkReference),
  email_suppression_not_found: define(
    404,
    'The provider has no such suppression.',
    'List the suppressions. It may have been removed already.',
  ),
  email_page_unknown: define(
    400,
    '`before` names an email that is not stored.',
    'Start again with the first page.',
  ),
  email_not_resendable: define(
    409,
    'The email waits to be sent, or the mail server has accepted it.',
    'Read the email. Only unknown, failed and skipped emails can be sent again.',
  ),
  webhook_replay_not_found: define(404, 'The provider has no such replay.', checkReference),

  reservation_gone: define(
    409,
    'The reservation was used, released or has expired, or never existed.',
    'Make a new reservation.',
  ),
  reservation_too_long: define(
    409,
    'The reservation would be held for longer than is allowed since its creation.',
    'Extend it for a shorter time, or record its usage and make a new reservation.',
  ),

  ambiguous_customer_query: define(
    400,
    'The query names no customer, or names it in several ways.',
    'Send exactly one of reference, externalRef and email.',
  ),
  invalid_email: define(400, 'The email address is malformed.', 'Correct the address.'),
  email_taken: define(409, 'Another customer or user has this email address.', chooseAnother),
  external_ref_taken: define(409, 'Another customer has this externalRef.', chooseAnother),
  alert_exists: define(
    409,
    'This limit of the customer or plan has an alert already.',
    'Change the thresholds of the existing alert.',
  ),
  too_many_alerts: define(
    409,
    'The provider has the maximum number of alerts that are not of one customer.',
    'Delete alerts that you do not need.',
  ),
  sandbox_only: define(403, 'Test clocks exist only in the sandbox.', 'Use a key of the sandbox.'),
  test_clock_time: define(
    400,
    'The time is not ahead of real time or of the clock, or it is too far ahead.',
    'Use a time between those that the message names.',
  ),
  test_clock_not_now: define(
    409,
    'The status of the test clock does not allow this.',
    'Read the status. Wait until the clock is ready, or pause, resume or delete it.',
  ),
  test_clock_advancing: define(
    409,
    'The test clock of the customer is advancing, and its customers cannot be changed until it stands still.',
    'Retry when the clock is ready, or pause it.',
  ),
  too_many_test_clocks: define(
    409,
    'The provider has the maximum number of test clocks.',
    'Delete clocks that you do not need.',
  ),
  test_clock_full: define(
    409,
    'The test clock has the maximum number of customers.',
    'Create another clock.',
  ),
  customer_on_other_clock: define(
    409,
    'The customer exists, and lives by another test clock or by real time.',
    'Create a customer with another email address and externalRef.',
  ),
  meter_name_taken: define(409, 'Another meter has this name.', chooseAnother),
  customer_without_tax_id: define(
    409,
    'The customer does not have the tax id that is decided on.',
    'Read the tax details of the customer, and decide on its tax id.',
  ),
  invoice_not_changeable: define(
    409,
    'The status of the invoice does not allow this, or its money is already settled, refunded or disputed.',
    'Read the invoice, and choose another way: a credit note, a refund, or nothing.',
  ),
  invoice_starts_period: define(
    409,
    'A period of a purchase begins when the invoice is paid.',
    'Cancel the purchase, or credit the invoice: the period then begins without payment.',
  ),
  invoice_sold_credits: define(
    409,
    'The invoice sold credits, and a credit note would not take them back.',
    'Refund the payment: the unused credits are taken back with it.',
  ),
  invoice_customer_deleted: define(
    409,
    'The customer was deleted and has no next invoice to credit.',
    'Refund the payment.',
  ),
  invoice_amount_too_large: define(
    409,
    'The amount exceeds what is left of the invoice or of the line.',
    'Send at most the amount that the message names.',
  ),
  invoice_currency_has_no_rate: define(
    409,
    'The currency has no exchange rate, so it cannot be charged.',
    'Set an exchange rate, or use another currency.',
  ),
  balance_amount_too_large: define(
    409,
    "The amount exceeds the customer's credit, or what the cards of past payments can take.",
    'Send at most the amount that the message names, or pay by other means.',
  ),
  refund_refused: define(
    409,
    'The payment processor did not make the refund.',
    'Read the payment at the processor. Refund to the balance if the card takes no refund.',
  ),
  customer_not_settled: define(
    409,
    'The customer has open invoices, unbilled usage or bought credits.',
    'Delete it with `settle`: `bill_now` or `write_off`.',
  ),
  customer_not_charged: define(
    [402, 409],
    'The customer was not deleted: some of what it owes could not be charged.',
    'Retry when it is paid, or delete the customer with `settle: "write_off"`.',
  ),
  customer_busy: define(409, 'The customer is being billed.', 'Retry in a moment.'),

  plan_invalid: define(400, 'The plan contradicts itself or its product.', 'Read the message.'),
  product_required: define(
    400,
    'The session needs a product.',
    'Send productRef, or the purpose credit_topup.',
  ),
  product_unavailable: define(
    400,
    'The product is not active.',
    'Activate the product, or use another one.',
  ),
  plan_unavailable: define(
    400,
    'The plan is sold out or cannot be bought.',
    'Offer another plan of the product.',
  ),
  purchase_not_cancellable: define(
    400,
    'The purchase has a state that cannot be cancelled.',
    'Read the purchase again: it may have ended already.',
  ),
  purchase_not_reactivable: define(
    400,
    'The purchase has ended, was cancelled at once, or is not pending cancellation.',
    'Read the purchase again; create a new one if it has ended.',
  ),
  credit_schedule_not_found: define(404, 'The customer has no such schedule.', checkReference),
  credit_schedule_ended: define(
    409,
    'The schedule of credits has ended, and does not change any more.',
    'Create another schedule.',
  ),
  too_many_credit_schedules: define(
    409,
    'The customer has as many schedules of credits as are allowed.',
    'End a schedule that is no longer needed.',
  ),
  plan_migration_not_found: define(404, 'The plan has no such migration.', checkReference),
  plan_migration_running: define(
    409,
    'Another migration of the plan is running, paused or being cancelled.',
    'Wait until it is done, or cancel it.',
  ),
  plan_migration_not_now: define(
    409,
    'The migration has a state in which the request has no effect.',
    'Read the migration again.',
  ),
  change_not_schedulable: define(
    400,
    'The purchase or the plan does not allow a scheduled change. The message names the reason.',
    'Change the plan now, or wait until the purchase is active and paid.',
  ),
  too_many_sessions: define(
    429,
    'The customer has too many hosted pages open.',
    'Use one of them, or retry after the seconds in Retry-After.',
  ),
  too_many_exports: define(
    429,
    'As many usage files of the provider are being sent as are allowed.',
    'Read them to the end, then retry after the seconds in Retry-After.',
  ),
  wallet_full: define(
    400,
    'The wallet would hold more credits than are allowed.',
    'Grant fewer credits.',
  ),
  wallet_too_small: define(
    400,
    'The wallet has fewer credits than the adjustment takes out.',
    'Take out at most the balance.',
  ),
  expiry_in_past: define(400, 'The expiry is in the past.', 'Send a time in the future.'),
  override_changes_exceeded: define(
    409,
    'The overrides of this customer and product were changed too often.',
    'Put the terms into a plan. Overrides that changed years ago make room.',
  ),
  meter_charged: define(
    409,
    'Plans charge or limit the meter by events or dimensions that it would no longer count.',
    'Create another meter, and change the plans to it.',
  ),
  meter_permanent: define(400, 'A built-in meter cannot be archived.', 'Archive another meter.'),
  api_key_expired: define(400, 'The key has expired.', 'Create a new key.'),
  api_key_revoked: define(400, 'The key is revoked.', 'Create a new key.'),

  invalid_credentials: define(401, 'The email or the password is wrong.', 'Correct them.'),
  wrong_password: define(400, 'The current password is incorrect.', 'Correct it, or reset it.'),
  password_link_invalid: define(
    400,
    'The link has expired or was used already.',
    'Request a new link.',
  ),
  too_many_attempts: define(
    429,
    'There were too many attempts.',
    'Retry after the seconds in Retry-After.',
  ),
  console_user_not_found: define(404, 'The provider has no such user.', 'List the users.'),
  last_owner: define(
    400,
    'A provider keeps at least one owner.',
    'Make another user an owner first.',
  ),
  cli_session_not_found: define(
    404,
    'The command-line session has expired or never existed.',
    'Start to sign in again.',
  ),
  cli_session_answered: define(
    409,
    'The command-line session was approved or refused already.',
    'Start to sign in again if it was refused.',
  ),

  tax_service_url_refused: define(
    400,
    'The address of the tax service is not allowed.',
    'Use a public https address.',
  ),
  webhook_url_refused: define(
    400,
    'Webhooks may not be sent to this address.',
    'Use a public https address.',
  ),
  too_many_webhook_endpoints: define(
    400,
    'The provider has as many endpoints as are allowed.',
    'Delete an endpoint.',
  ),
  too_many_webhook_secrets: define(
    409,
    'The endpoint has as many signing secrets as are allowed.',
    'Wait until one ends, or rotate with an overlap of 0 hours.',
  ),
  webhook_endpoint_deleted: define(
    400,
    'The endpoint of the delivery was deleted.',
    'Create an endpoint, and replay the events to it.',
  ),
  webhook_page_unknown: define(
    400,
    'The delivery that the page starts from is no longer stored.',
    'Start at the first page.',
  ),
  replay_in_future: define(
    400,
    'The replay starts in the future; there is nothing to resend.',
    'Send a time in the past as `from`.',
  ),
  webhook_delivery_pending: define(
    409,
    'The delivery is waiting to be sent.',
    'Read the delivery again in a moment.',
  ),
  webhook_replay_running: define(
    409,
    'Another replay to the endpoint is running.',
    'Cancel it, or wait until it ends.',
  ),
} as const
