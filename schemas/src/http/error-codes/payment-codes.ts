import { define } from './definition.ts'

/** Error codes of payments and of MCP products. Codes in capitals are older; they stay, because clients match them. */
export const paymentCodes = {
  PAYMENT_INTENT_NOT_FOUND: define(
    404,
    'The provider has no such payment intent.',
    'Check the reference, and that the key is of the same environment.',
  ),
  payment_refused: define(
    400,
    'The payment cannot be created or changed as requested.',
    'Read the message, and correct the request or the payment method.',
  ),
  payment_not_succeeded: define(
    400,
    'The payment has not succeeded at the payment processor.',
    'Confirm the payment first; the message has its status.',
  ),
  payment_not_open: define(
    400,
    'The payment is no longer open, so that its amount cannot change.',
    'Create a new payment intent.',
  ),
  payment_mismatch: define(
    400,
    'The payment belongs to another customer, product or plan.',
    'Send the references that the payment was created with.',
  ),
  usage_billed_at_period_end: define(
    400,
    'Usage is paid when its billing period ends, not on request.',
    'Create no payment intent for usage.',
  ),
  auto_recharge_invalid: define(
    400,
    'The settings of the automatic top-up contradict each other.',
    'Read the message.',
  ),
  exchange_rate_fixed: define(
    400,
    'Exchange rates are relative to USD, so that USD has none.',
    'Set the rate of another currency.',
  ),
  processor_webhook_refused: define(
    400,
    'The event of the payment processor has no valid signature.',
    'Check the signing secret of the webhook at the payment processor.',
  ),
  tax_service_unavailable: define(
    503,
    'The tax service of the provider did not answer, or not in the documented form.',
    'Retry in a moment. See the outcomes of the tax service in the metrics or the log.',
  ),
  processor_unavailable: define(
    502,
    'The payment processor did not answer.',
    'Retry in a moment with the same idempotency key.',
  ),
  payments_not_configured: define(
    502,
    'The installation has no key of the payment processor.',
    'The operator sets one.',
  ),

  INVALID_ORIGIN_URL: define(
    400,
    'The address of the MCP server is not allowed.',
    'Use a public https address.',
  ),
  UNKNOWN_PLAN_KEY: define(
    400,
    'A tool names a plan key that no plan of the request has.',
    'Declare the plan, or correct the key.',
  ),
  UNKNOWN_PLAN_REFERENCE: define(
    400,
    'A tool names a plan that the product does not have.',
    'Use a plan of the product.',
  ),
  DUPLICATE_PLAN_KEY: define(400, 'Two plans have the same key.', 'Give each plan its own key.'),
  DUPLICATE_TOOL_NAME: define(400, 'Two tools have the same name.', 'Name each tool once.'),
  NOT_MCP_PRODUCT: define(400, 'The product is not an MCP product.', 'Use an MCP product.'),
  NO_MCP_SERVER: define(400, 'The product has no MCP server.', 'Bootstrap one.'),
  PLAN_CURRENCY_NOT_PROVIDER_DEFAULT: define(
    400,
    "The plan's currency is not the provider's default currency.",
    'Use the default currency.',
  ),
  PLAN_NOT_ALLOWED_AS_DEFAULT: define(
    400,
    'Only a free plan can be the default plan.',
    'Choose a free plan as the default.',
  ),
  PLAN_PRICES_INVALID: define(400, 'The prices of the plan are invalid.', 'Read the message.'),
  PLAN_TERMS_INVALID: define(400, 'The terms of the plan are invalid.', 'Read the message.'),
  origin_unusable: define(
    502,
    'The MCP server could not list its tools.',
    'Check that the server is reachable and speaks MCP.',
  ),
  origin_changed: define(
    409,
    'The address of the MCP server changed during the request.',
    'Discover the tools again.',
  ),
} as const
