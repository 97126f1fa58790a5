import { operation, type DescribedOperation } from './described-operation.ts'
import { describedWebhookOperations } from './described-webhook-operations.ts'

/** Every operation of the API, by method and path; what it takes and answers is told by its schemas. */
export const describedOperations: Readonly<Record<string, DescribedOperation>> = {
  'post /v1/sdk/usages': operation('recordUsage', 'Record a call'),
  'post /v1/sdk/usages/bulk': operation('recordUsages', 'Record calls, all or none'),
  'post /v1/sdk/meter-events': operation('recordMeterEvent', 'Record usage on a named meter'),
  'post /v1/sdk/meter-events/bulk': operation(
    'recordMeterEvents',
    'Record usage on named meters, all records or none',
  ),

  'post /v1/sdk/limits': operation('checkLimit', 'Ask whether a call may go ahead', 404),
  'post /v1/sdk/limits/release': operation(
    'releaseReservation',
    'Give back what a limit check reserved',
  ),

  'get /v1/sdk/customers': operation(
    'findCustomer',
    'Find a customer by exactly one of reference, externalRef or email',
    404,
  ),
  'post /v1/sdk/customers': operation(
    'createCustomer',
    'Create a customer, or link an existing one to an externalRef',
    409,
  ),
  'get /v1/sdk/customers/{reference}': operation('getCustomer', 'Get a customer', 404),
  'patch /v1/sdk/customers/{reference}': operation(
    'updateCustomer',
    'Change the given fields of a customer',
    404,
    409,
  ),
  'delete /v1/ui/customers/{reference}': operation(
    'deleteCustomer',
    'Delete a customer; what was used and paid stays, and what is owed is billed or written off',
    404,
    'unsettled',
  ),
  'post /v1/sdk/user-info': operation(
    'getUserInfo',
    "A customer's purchase and usage of a product, with a link to the portal",
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
  'get /v1/sdk/payment-intents': operation('listPaymentIntents', 'List payments, the newest first'),
  'post /v1/sdk/payment-intents': operation(
    'createPaymentIntent',
    "Make a payment that the customer's browser confirms: a plan, or credits",
    404,
    409,
    502,
  ),
  'get /v1/sdk/payment-intents/{paymentIntentRef}': operation(
    'getPaymentIntent',
    "Get a payment by our reference or the processor's",
    404,
    502,
  ),
  'post /v1/sdk/payment-intents/{paymentIntentRef}/business-details': operation(
    'setBusinessDetails',
    'Say where a customer is and as what it pays, and get the tax of the payment',
    404,
    502,
  ),
  'post /v1/sdk/payment-intents/{paymentIntentRef}/process': operation(
    'processPayment',
    'Wait for a payment that was confirmed, and get what it bought',
    404,
    502,
  ),
  'get /v1/sdk/payment-method': operation(
    'getPaymentMethod',
    'The card that a customer pays with',
    404,
  ),

  'get /v1/sdk/customers/{reference}/balance': operation(
    'getBalance',
    "A customer's credits, and what they are worth",
    404,
  ),
  'post /v1/sdk/customers/{reference}/credits': operation(
    'grantCredits',
    'Put credits into the wallet of a customer',
    404,
    409,
  ),
  'get /v1/sdk/auto-recharge': operation(
    'getAutoRecharge',
    'When and by how much credits are topped up by themselves',
    404,
  ),
  'put /v1/sdk/auto-recharge': operation(
    'setAutoRecharge',
    'Say when credits are topped up by themselves',
    404,
  ),
  'delete /v1/sdk/auto-recharge': operation(
    'disableAutoRecharge',
    'Stop topping up by itself',
    404,
  ),
  'get /v1/ui/exchange-rates': operation(
    'listExchangeRates',
    'List the rates that credits are shown with',
  ),
  'put /v1/ui/exchange-rates/{currency}': operation(
    'setExchangeRate',
    'Set what a dollar is worth in a currency',
  ),
  'delete /v1/ui/exchange-rates/{currency}': operation(
    'removeExchangeRate',
    'Remove the rate of a currency',
  ),

  'get /v1/sdk/products': operation('listProducts', 'List products, newest first'),
  'post /v1/sdk/products': operation('createProduct', 'Create a product'),
  'get /v1/sdk/products/{productRef}': operation('getProduct', 'Get a product with its plans', 404),
  'put /v1/sdk/products/{productRef}': operation(
    'updateProduct',
    'Change the given fields of a product',
    404,
  ),
  'delete /v1/sdk/products/{productRef}': operation(
    'deleteProduct',
    'Delete a product, or deactivate one that was bought',
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
  'put /v1/sdk/products/{productRef}/plans/{planRef}': operation(
    'updatePlan',
    'Change the given fields of a plan; purchases keep the plan they were made with',
    404,
  ),
  'delete /v1/sdk/products/{productRef}/plans/{planRef}': operation(
    'deletePlan',
    'Delete a plan, or archive one that is in use',
    404,
  ),

  'post /v1/sdk/activate': operation(
    'activatePlan',
    'Put a customer on a plan, or learn where to pay for it',
    404,
  ),
  'get /v1/sdk/purchases': operation('listPurchases', 'List purchases, newest first'),
  'get /v1/sdk/purchases/{purchaseRef}': operation('getPurchase', 'Get a purchase', 404),
  'get /v1/sdk/purchases/customer/{customerRef}': operation(
    'listCustomerPurchases',
    'List the purchases of a customer',
    404,
  ),
  'get /v1/sdk/purchases/product/{productRef}': operation(
    'listProductPurchases',
    'List the purchases of a product',
    404,
  ),
  'post /v1/sdk/purchases/{purchaseRef}/cancel': operation(
    'cancelPurchase',
    'Cancel a purchase: a recurring one at the end of its period, any other at once',
    404,
  ),
  'post /v1/sdk/purchases/{purchaseRef}/reactivate': operation(
    'reactivatePurchase',
    'Take back a cancellation that has not taken effect',
    404,
  ),
  'post /v1/sdk/checkout-sessions': operation(
    'createCheckoutSession',
    'Open a checkout page for a customer',
    404,
    409,
    429,
  ),

  'post /v1/sdk/products/mcp/bootstrap': operation(
    'bootstrapMcpProduct',
    'Set up a product for an MCP server, with plans and tools',
  ),
  'put /v1/sdk/products/{productRef}/mcp/plans': operation(
    'configureMcpPlans',
    'Change the plans of an MCP product, and which tools they open',
    404,
  ),
  'post /v1/ui/products/{productRef}/mcp/discover': operation(
    'discoverMcpTools',
    "Ask an MCP product's server for its tools again",
    404,
    409,
    502,
  ),

  'get /v1/ui/meters': operation('listMeters', 'List meters'),
  'post /v1/ui/meters': operation('createMeter', 'Create a meter', 409),
  'get /v1/ui/meters/{meterRef}': operation('getMeter', 'Get a meter', 404),
  'patch /v1/ui/meters/{meterRef}': operation('updateMeter', 'Change or archive a meter', 404),
  'get /v1/ui/meters/{meterRef}/usage': operation('getMeterUsage', 'Usage of a meter', 404),
  'get /ui/meters/{meterRef}/usage': operation(
    'getMeterUsageByShortPath',
    'The same as /v1/ui/meters/{meterRef}/usage',
    404,
  ),

  'get /v1/sdk/merchant': operation('getMerchant', 'What customers are told about the provider'),
  'patch /v1/ui/merchant': operation(
    'updateMerchant',
    'Change what customers are told about the provider',
  ),
  'put /v1/ui/merchant/{kind}': operation('uploadMerchantPicture', 'Upload the logo or icon'),
  'get /v1/files/public/provider-assets/{sha256}': operation(
    'getMerchantPicture',
    'The logo or icon of a provider, for everybody',
    404,
  ),
  'get /v1/sdk/platform-config': operation(
    'getPlatformConfig',
    'What pages in a browser need to take payments',
  ),

  'get /v1/ui/api-keys': operation('listApiKeys', 'List the secret keys of the environment'),
  'post /v1/ui/api-keys': operation('createApiKey', 'Create a secret key'),
  'post /v1/ui/api-keys/{keyId}/rotate': operation(
    'rotateApiKey',
    'Replace a secret key; both work for a while',
    404,
  ),
  'delete /v1/ui/api-keys/{keyId}': operation('revokeApiKey', 'Revoke a secret key', 404),

  'get /v1/ui/audit-log': operation('listAuditEntries', 'List who changed what, newest first'),

  'post /v1/ui/auth/sign-in': operation('signIn', 'Sign in to the console', 401, 429),
  'post /v1/ui/auth/password': operation('setPassword', 'Set a password by a one-time link'),
  'put /v1/ui/auth/password': operation('changePassword', 'Change the own password', 429),
  'get /v1/ui/auth/me': operation('getSignedInUser', 'Who is signed in, and where'),
  'post /v1/ui/auth/environment': operation('switchEnvironment', 'Go on in the other environment'),
  'post /v1/ui/auth/sign-out': operation('signOut', 'Sign out'),
  'get /v1/ui/users': operation('listUsers', 'List who may use the console'),
  'post /v1/ui/users': operation('inviteUser', 'Let somebody use the console', 409),
  'patch /v1/ui/users/{userId}': operation('updateUser', 'Change the role or name of a user', 404),
  'delete /v1/ui/users/{userId}': operation('removeUser', 'Remove a user from the console', 404),
  'post /v1/ui/users/{userId}/password-link': operation(
    'createPasswordLink',
    'Make a one-time link to set a password with',
    404,
  ),
  'post /v1/ui/provider/auth/cli-init/sessions': operation(
    'openCliSession',
    'Ask for a key from the command line',
    429,
  ),
  'post /v1/ui/provider/auth/cli-init/sessions/{sessionId}/exchange': operation(
    'exchangeCliSession',
    'Fetch the key that was asked for from the command line',
  ),
  'post /v1/ui/provider/auth/cli-init/sessions/{sessionId}/complete': operation(
    'completeCliSession',
    'Let a command line have a key',
    404,
    409,
  ),
  'post /v1/ui/provider/auth/cli-init/sessions/{sessionId}/cancel': operation(
    'cancelCliSession',
    'Refuse a command line a key',
    404,
    409,
  ),

  'get /v1/ui/overview': operation('getOverview', 'What there is, and the usage of 30 days'),
  'get /v1/ui/customers': operation('listCustomers', 'List customers, or search them'),
  'get /v1/ui/customers/{reference}/credits/transactions': operation(
    'listCreditTransactions',
    "What was put into a customer's wallet and taken out of it",
    404,
  ),
  'post /v1/ui/customers/{reference}/credits/adjustments': operation(
    'adjustCredits',
    'Change by hand what is in the wallet of a customer',
    404,
    409,
  ),
  'get /v1/ui/purchases': operation('listPurchasesByPage', 'List purchases, a page at a time'),
  'get /v1/ui/invoices': operation('listInvoices', 'List invoices, newest first'),
  'get /v1/ui/invoices/{invoiceRef}': operation(
    'getInvoice',
    'Get an invoice with all that its lines were computed from',
    404,
  ),
  'get /v1/ui/invoices/{invoiceRef}/pdf': operation(
    'getInvoicePdf',
    'Get an invoice to print or to send',
    404,
  ),
  'get /v1/ui/invoices/{invoiceRef}/credit-notes/{creditNoteRef}/pdf': operation(
    'getCreditNotePdf',
    'Get a credit note to print or to send',
    404,
  ),
  'get /v1/ui/usage': operation('getUsage', 'Usage over time, in all or of one customer', 404),
  'get /v1/ui/usage/breakdown': operation(
    'getUsageBreakdown',
    'Which customers, products or meters have the most usage',
    404,
  ),
  ...describedWebhookOperations,

  'get /v1/ui/billing/runs': operation(
    'listBillingRuns',
    'List what scheduled jobs did, the newest first',
  ),
  'get /v1/ui/reconciliations': operation(
    'listReconciliations',
    'List what was compared with others and what came of it, the newest first',
  ),
  'get /v1/ui/reconciliations/{reconciliationRef}': operation(
    'getReconciliation',
    'Get a reconciliation with all that it found',
    404,
  ),
  'get /v1/ui/events': operation('listEvents', 'List what happened, the newest first'),
  'get /v1/ui/events/{eventId}': operation('getEvent', 'Get an event with what it tells', 404),

  'get /v1/openapi.json': operation('getApiDescription', 'This description, for programs'),
}

/** Done once for each `Idempotency-Key`, however often they are asked for. */
export const idempotentOperations: ReadonlySet<string> = new Set([
  ...['recordUsage', 'recordUsages', 'recordMeterEvent', 'recordMeterEvents', 'checkLimit'],
  ...['grantCredits', 'adjustCredits', 'createCheckoutSession'],
])

/** In the order in which they are read. */
export const describedTags = [
  { name: 'Usage', description: 'Record what customers use' },
  { name: 'Limits', description: 'Ask before a call' },
  { name: 'Customers', description: 'Who uses and pays' },
  { name: 'Credits', description: 'Pre-paid wallets' },
  { name: 'Products', description: 'What is sold' },
  { name: 'Plans', description: 'What it costs, and how much of it there is' },
  { name: 'Purchases', description: 'Who holds which plan' },
  { name: 'Invoices', description: 'What was charged, and what is to be paid yet' },
  { name: 'Checkout', description: 'Hosted payment pages' },
  { name: 'Payments', description: 'Money that customers pay' },
  { name: 'MCP', description: 'MCP servers as products' },
  { name: 'Meters', description: 'What is counted' },
  { name: 'Merchant', description: 'The provider, as its customers see it' },
  { name: 'Billing', description: 'What scheduled jobs do' },
  { name: 'Events', description: 'What happened, as webhooks tell of it' },
  { name: 'Webhooks', description: 'What is sent to the endpoints of a provider' },
  { name: 'Keys', description: 'Secret keys of the provider' },
  { name: 'Console', description: "Who may use the provider's console, and signing in to it" },
  { name: 'Audit log', description: 'Who changed what, when and from where' },
  { name: 'Description', description: 'What the API says of itself' },
]
