import { operation, type DescribedOperation } from './described-operation.ts'
import { describedInvoiceOperations } from './described-invoice-operations.ts'
import { describedEmailOperations } from './described-email-operations.ts'
import { describedCorrectionOperations } from './described-correction-operations.ts'
import { describedCreditOperations } from './described-credit-operations.ts'
import { describedPlanMigrationOperations } from './described-plan-migration-operations.ts'
import { describedTestClockOperations } from './described-test-clock-operations.ts'
import { describedTaxOperations } from './described-tax-operations.ts'
import { describedPurchaseOperations } from './described-purchase-operations.ts'
import { describedWebhookOperations } from './described-webhook-operations.ts'

/** Every operation of the API, by method and path. The schemas of the routes describe requests and responses. */
export const describedOperations: Readonly<Record<string, DescribedOperation>> = {
  'post /v1/sdk/usages': operation('recordUsage', 'Record a call'),
  'post /v1/sdk/usages/bulk': operation('recordUsages', 'Record calls in bulk'),
  'post /v1/sdk/meter-events': operation('recordMeterEvent', 'Record a meter event'),
  'post /v1/sdk/meter-events/bulk': operation('recordMeterEvents', 'Record meter events in bulk'),
  'post /v1/events': operation('recordEvent', 'Record a CloudEvent'),
  'post /v1/events/batch': operation('recordEvents', 'Record CloudEvents in a batch'),

  'post /v1/sdk/limits': operation('checkLimit', 'Check whether a call is within the limits', 404),
  'post /v1/sdk/limits/release': operation('releaseReservation', 'Release reserved units'),
  'post /v1/sdk/limits/extend': operation('extendReservation', 'Extend a reservation', 409),
  'post /v1/sdk/limits/reservations': operation('reserveUnits', 'Make several reservations', 404),

  'get /v1/sdk/customers': operation('findCustomer', 'Find a customer', 404),
  'post /v1/sdk/customers': operation('createCustomer', 'Create or link a customer', 404, 409),
  'get /v1/sdk/customers/{reference}': operation('getCustomer', 'Get a customer', 404),
  'patch /v1/sdk/customers/{reference}': operation('updateCustomer', 'Update a customer', 404, 409),
  'delete /v1/ui/customers/{reference}': operation(
    'deleteCustomer',
    'Delete a customer',
    404,
    'unsettled',
  ),
  'get /v1/ui/customers/{reference}/products/{productRef}/overrides': operation(
    'getOverrides',
    'Get the overrides of a customer',
    404,
  ),
  'put /v1/ui/customers/{reference}/products/{productRef}/overrides': operation(
    'setOverrides',
    'Set the overrides of a customer',
    404,
    409,
  ),
  'delete /v1/ui/customers/{reference}/products/{productRef}/overrides': operation(
    'removeOverrides',
    'Remove the overrides of a customer',
    404,
    409,
  ),
  'post /v1/sdk/user-info': operation(
    'getUserInfo',
    'Get the purchase and usage of a customer',
    404,
  ),
  'post /v1/sdk/customers/customer-sessions': operation(
    'createCustomerSession',
    'Open a portal session for a customer',
    404,
    429,
  ),
  'get /v1/sdk/customers/customer-sessions/{sessionId}': operation(
    'getCustomerSession',
    'Get a portal session',
    404,
  ),
  'get /v1/sdk/payment-intents': operation('listPaymentIntents', 'List payments'),
  'post /v1/sdk/payment-intents': operation(
    'createPaymentIntent',
    'Create a payment',
    404,
    409,
    502,
  ),
  'get /v1/sdk/payment-intents/{paymentIntentRef}': operation(
    'getPaymentIntent',
    'Get a payment',
    404,
    502,
  ),
  'post /v1/sdk/payment-intents/{paymentIntentRef}/business-details': operation(
    'setBusinessDetails',
    'Set the tax details of a payment',
    404,
    502,
  ),
  'post /v1/sdk/payment-intents/{paymentIntentRef}/process': operation(
    'processPayment',
    'Wait for a confirmed payment',
    404,
    502,
  ),
  'get /v1/sdk/payment-method': operation('getPaymentMethod', 'Get the saved card', 404),

  'get /v1/sdk/customers/{reference}/balance': operation(
    'getBalance',
    'Get the credit balance',
    404,
  ),
  'post /v1/sdk/customers/{reference}/credits': operation(
    'grantCredits',
    'Grant credits',
    404,
    409,
  ),
  'get /v1/sdk/auto-recharge': operation('getAutoRecharge', 'Get automatic top-up', 404),
  'put /v1/sdk/auto-recharge': operation('setAutoRecharge', 'Turn on automatic top-up', 404),
  'delete /v1/sdk/auto-recharge': operation(
    'disableAutoRecharge',
    'Turn off automatic top-up',
    404,
  ),
  'get /v1/ui/exchange-rates': operation('listExchangeRates', 'List exchange rates'),
  'put /v1/ui/exchange-rates/{currency}': operation('setExchangeRate', 'Set an exchange rate'),
  'delete /v1/ui/exchange-rates/{currency}': operation(
    'removeExchangeRate',
    'Remove an exchange rate',
  ),

  'get /v1/sdk/products': operation('listProducts', 'List products'),
  'post /v1/sdk/products': operation('createProduct', 'Create a product'),
  'get /v1/sdk/products/{productRef}': operation('getProduct', 'Get a product', 404),
  'put /v1/sdk/products/{productRef}': operation('updateProduct', 'Update a product', 404),
  'delete /v1/sdk/products/{productRef}': operation(
    'deleteProduct',
    'Delete or deactivate a product',
    404,
  ),
  'post /v1/sdk/products/{productRef}/clone': operation(
    'cloneProduct',
    'Copy a product with its plans',
    404,
  ),

  'get /v1/sdk/products/{productRef}/plans': operation(
    'listPlans',
    'List the plans of a product',
    404,
  ),
  'post /v1/sdk/products/{productRef}/plans': operation('createPlan', 'Create a plan', 404),
  'get /v1/sdk/products/{productRef}/plans/{planRef}': operation('getPlan', 'Get a plan', 404),
  'post /v1/sdk/products/{productRef}/plans/{planRef}/price-preview': operation(
    'previewPrice',
    'Preview what usage costs',
    404,
  ),
  'post /v1/sdk/products/{productRef}/plans/{planRef}/price-curve': operation(
    'previewPriceCurve',
    'Preview what more or less usage costs',
    404,
  ),
  'post /v1/sdk/products/{productRef}/plans/{planRef}/change-preview': operation(
    'previewPlanUpdate',
    'Preview a changed plan for its holders',
    404,
  ),
  'put /v1/sdk/products/{productRef}/plans/{planRef}': operation(
    'updatePlan',
    'Update a plan',
    404,
  ),
  'delete /v1/sdk/products/{productRef}/plans/{planRef}': operation(
    'deletePlan',
    'Delete or archive a plan',
    404,
  ),

  ...describedPurchaseOperations,
  'post /v1/sdk/checkout-sessions': operation(
    'createCheckoutSession',
    'Open a checkout',
    404,
    409,
    429,
  ),

  'post /v1/sdk/products/mcp/bootstrap': operation(
    'bootstrapMcpProduct',
    'Create a product for an MCP server',
  ),
  'put /v1/sdk/products/{productRef}/mcp/plans': operation(
    'configureMcpPlans',
    'Replace the plans of an MCP product',
    404,
  ),
  'post /v1/ui/products/{productRef}/mcp/discover': operation(
    'discoverMcpTools',
    'Read the tools of an MCP server again',
    404,
    409,
    502,
  ),

  'post /v1/customer/auth/register': operation('registerCustomerClient', 'Register a client'),
  'get /v1/customer/auth/authorize': operation('authorizeClient', 'Ask a customer to sign in'),
  'post /v1/customer/auth/token': operation('getCustomerTokens', 'Get tokens'),
  'post /v1/customer/auth/revoke': operation('revokeCustomerToken', 'Revoke a token'),
  'get /v1/customer/auth/userinfo': operation('getSignedInCustomer', 'Get the signed-in customer'),
  'post /v1/customer/auth/links': operation('createCustomerLink', 'Create a link', 404),
  'post /v1/customer/auth/clients': operation(
    'createAgentClient',
    'Register a client for one customer',
    404,
  ),

  'get /v1/ui/alerts': operation('listAlerts', 'List alerts', 404),
  'post /v1/ui/alerts': operation('createAlert', 'Create an alert', 404, 409),
  'get /v1/ui/alerts/{alertRef}': operation('getAlert', 'Get an alert', 404),
  'patch /v1/ui/alerts/{alertRef}': operation(
    'updateAlert',
    'Change the thresholds of an alert',
    404,
  ),
  'delete /v1/ui/alerts/{alertRef}': operation('deleteAlert', 'Delete an alert', 404),
  'get /v1/ui/customers/{reference}/budgets': operation(
    'listBudgets',
    'List the budgets of a customer',
    404,
  ),
  'get /v1/ui/meters': operation('listMeters', 'List meters'),
  'post /v1/ui/meters': operation('createMeter', 'Create a meter', 409),
  'get /v1/ui/meters/{meterRef}': operation('getMeter', 'Get a meter', 404),
  'patch /v1/ui/meters/{meterRef}': operation('updateMeter', 'Change or archive a meter', 404, 409),
  'get /v1/ui/meters/{meterRef}/usage': operation(
    'getMeterUsage',
    'Get the usage of a meter',
    404,
    429,
  ),
  'get /ui/meters/{meterRef}/usage': operation(
    'getMeterUsageByShortPath',
    'Get the usage of a meter (short path)',
    404,
    429,
  ),

  'get /v1/sdk/merchant': operation('getMerchant', 'Get the merchant record'),
  'patch /v1/ui/merchant': operation('updateMerchant', 'Update the merchant record'),
  'put /v1/ui/merchant/{kind}': operation('uploadMerchantPicture', 'Upload the logo or icon'),
  'get /v1/files/public/provider-assets/{sha256}': operation(
    'getMerchantPicture',
    'Get the logo or icon',
    404,
  ),
  'get /v1/sdk/platform-config': operation(
    'getPlatformConfig',
    'Get the payment configuration for browsers',
  ),

  'get /v1/ui/api-keys': operation('listApiKeys', 'List secret keys'),
  'post /v1/ui/api-keys': operation('createApiKey', 'Create a secret key'),
  'post /v1/ui/api-keys/{keyId}/rotate': operation('rotateApiKey', 'Rotate a secret key', 404),
  'delete /v1/ui/api-keys/{keyId}': operation('revokeApiKey', 'Revoke a secret key', 404),

  'get /v1/ui/audit-log': operation('listAuditEntries', 'List audit entries'),

  'post /v1/ui/auth/sign-in': operation('signIn', 'Sign in to the console', 401, 429),
  'post /v1/ui/auth/password': operation('setPassword', 'Set a password with a one-time link'),
  'put /v1/ui/auth/password': operation('changePassword', 'Change your password', 429),
  'get /v1/ui/auth/me': operation('getSignedInUser', 'Get the signed-in user'),
  'post /v1/ui/auth/environment': operation('switchEnvironment', 'Switch to the other environment'),
  'post /v1/ui/auth/sign-out': operation('signOut', 'Sign out'),
  'get /v1/ui/users': operation('listUsers', 'List console users'),
  'post /v1/ui/users': operation('inviteUser', 'Invite a console user', 409),
  'patch /v1/ui/users/{userId}': operation('updateUser', 'Update a console user', 404),
  'delete /v1/ui/users/{userId}': operation('removeUser', 'Remove a console user', 404),
  'post /v1/ui/users/{userId}/password-link': operation(
    'createPasswordLink',
    'Create a password link',
    404,
  ),
  'post /v1/ui/provider/auth/cli-init/sessions': operation(
    'openCliSession',
    'Open a CLI session',
    429,
  ),
  'post /v1/ui/provider/auth/cli-init/sessions/{sessionId}/exchange': operation(
    'exchangeCliSession',
    'Fetch the key of a CLI session',
  ),
  'post /v1/ui/provider/auth/cli-init/sessions/{sessionId}/complete': operation(
    'completeCliSession',
    'Approve a CLI session',
    404,
    409,
  ),
  'post /v1/ui/provider/auth/cli-init/sessions/{sessionId}/cancel': operation(
    'cancelCliSession',
    'Refuse a CLI session',
    404,
    409,
  ),

  'get /v1/ui/overview': operation('getOverview', 'Get an overview'),
  'get /v1/ui/customers': operation('listCustomers', 'List or search customers'),
  'get /v1/ui/customers/{reference}/credits/transactions': operation(
    'listCreditTransactions',
    'List credit transactions',
    404,
  ),
  'post /v1/ui/customers/{reference}/credits/adjustments': operation(
    'adjustCredits',
    'Adjust credits by hand',
    404,
    409,
  ),
  'get /v1/ui/purchases': operation('listPurchasesByPage', 'List purchases page by page'),
  ...describedInvoiceOperations,
  ...describedTaxOperations,
  'get /v1/ui/usage': operation('getUsage', 'Get usage over time', 404),
  'get /v1/ui/usage/explore': operation('exploreUsage', 'Explore usage by time and group', 404),
  'get /v1/ui/usage/breakdown': operation(
    'getUsageBreakdown',
    'Get the largest customers, products or meters',
    404,
  ),
  'get /v1/ui/customers/{reference}/margin': operation(
    'getCustomerMargin',
    'Get what a customer paid and what models cost',
    404,
  ),
  ...describedCreditOperations,
  ...describedCorrectionOperations,
  ...describedTestClockOperations,
  ...describedPlanMigrationOperations,
  ...describedWebhookOperations,
  ...describedEmailOperations,

  'get /v1/ui/billing/runs': operation('listBillingRuns', 'List billing runs'),
  'get /v1/ui/reconciliations': operation('listReconciliations', 'List reconciliations'),
  'get /v1/ui/reconciliations/{reconciliationRef}': operation(
    'getReconciliation',
    'Get a reconciliation',
    404,
  ),
  'get /v1/ui/events': operation('listEvents', 'List events'),
  'get /v1/ui/events/{eventId}': operation('getEvent', 'Get an event', 404),

  'get /v1/openapi.json': operation('getApiDescription', 'Get this API description'),
}

/** Operations that run once for each `Idempotency-Key`, however often the request is repeated. */
export const idempotentOperations: ReadonlySet<string> = new Set([
  ...['recordUsage', 'recordUsages', 'recordMeterEvent', 'recordMeterEvents', 'checkLimit'],
  ...['grantCredits', 'adjustCredits', 'createCreditSchedule', 'createCheckoutSession'],
  ...['creditInvoice', 'voidInvoice', 'writeOffInvoice', 'recordOutsidePayment'],
])

/** Operations with the errors of OAuth, which these operations describe themselves. */
export const oauthOperations: ReadonlySet<string> = new Set([
  ...['registerCustomerClient', 'authorizeClient', 'getCustomerTokens', 'revokeCustomerToken'],
  'getSignedInCustomer',
])

/** Tags, in the order in which the documentation shows them. */
export const describedTags = [
  { name: 'Usage', description: 'Record the usage of customers' },
  { name: 'Limits', description: 'Check whether a call is within the plan, before it is made' },
  { name: 'Customers', description: 'The people and companies that use and pay' },
  { name: 'Credits', description: 'Pre-paid wallets' },
  { name: 'Products', description: 'What a provider sells' },
  { name: 'Plans', description: 'Prices, limits and trials of a product' },
  { name: 'Purchases', description: 'Plans that customers hold' },
  { name: 'Invoices', description: 'Charges, paid and open' },
  { name: 'Coupons', description: 'Discounts that customers redeem' },
  { name: 'Checkout', description: 'Hosted pages on which customers buy' },
  { name: 'Payments', description: 'Payments that a browser confirms' },
  { name: 'MCP', description: 'Products that are MCP servers' },
  { name: 'Customer sign-in', description: 'How customers let MCP clients act for them' },
  { name: 'Meters', description: 'Named counters of usage' },
  {
    name: 'Alerts',
    description: 'Thresholds of limits, wallets and spend, and budgets of customers',
  },
  {
    name: 'Test clocks',
    description: 'Times of their own for customers of the sandbox, to try months in seconds',
  },
  { name: 'Merchant', description: 'The provider as its customers see it' },
  { name: 'Billing', description: 'Runs of scheduled jobs' },
  { name: 'Events', description: 'Events, as webhooks deliver them' },
  { name: 'Webhooks', description: 'Endpoints, deliveries and replays' },
  {
    name: 'Emails',
    description: 'Emails to customers: settings, previews and suppressed addresses',
  },
  { name: 'Keys', description: 'Secret keys of the provider' },
  { name: 'Console', description: 'Console users, signing in, and keys for the command line' },
  { name: 'Audit log', description: 'Who changed what, when and from which address' },
  { name: 'Description', description: 'The machine-readable description of the API' },
]
