/**
 * Routes without an audit entry. They record or check usage: programs call them for each call of their own customers. If they open
 * a page, an entry names it.
 */
export const unauditedRoutes = [
  'POST /v1/sdk/user-info',
  'POST /v1/sdk/limits',
  'POST /v1/sdk/limits/release',
  'POST /v1/sdk/limits/extend',
  'POST /v1/sdk/limits/reservations',
  // Ingest announces usage that its client records.
  'POST /v1/sdk/usage-corrections/backfills',
  // Previews store nothing.
  'POST /v1/sdk/products/:productRef/plans/:planRef/price-preview',
  'POST /v1/ui/products/:productRef/plans/:planRef/price-preview',
  'POST /v1/sdk/products/:productRef/plans/:planRef/price-curve',
  'POST /v1/ui/products/:productRef/plans/:planRef/price-curve',
  'POST /v1/sdk/products/:productRef/plans/:planRef/change-preview',
  'POST /v1/ui/products/:productRef/plans/:planRef/change-preview',
  'POST /v1/sdk/products/:productRef/plans/:planRef/migration-preview',
  'POST /v1/ui/products/:productRef/plans/:planRef/migration-preview',
  'POST /v1/sdk/purchases/:purchaseRef/invoice-preview',
  'POST /v1/ui/purchases/:purchaseRef/invoice-preview',
  'POST /v1/sdk/purchases/:purchaseRef/change-preview',
  'POST /v1/ui/purchases/:purchaseRef/change-preview',
  'POST /v1/sdk/purchases/:purchaseRef/cancel-preview',
  'POST /v1/ui/purchases/:purchaseRef/cancel-preview',
  // Requests of OAuth clients. A customer's consent does create entries: one for a new customer, and one for an agent's client.
  'POST /*',
  'POST /v1/customer/auth/register',
  'POST /v1/customer/auth/revoke',
  'POST /v1/customer/auth/token',
  // It ends a session, as an expiry does.
  'POST /v1/ui/auth/sign-out',
  // Requests of a command line that has no key yet. An entry names the user who gives it a key.
  'POST /v1/ui/provider/auth/cli-init/sessions',
  'POST /v1/ui/provider/auth/cli-init/sessions/:sessionId/exchange',
  'POST /v1/ui/provider/auth/cli-init/sessions/:sessionId/cancel',
]

/** Routes that need a payment processor. Tests with a processor check their entries. */
export const payingRoutes = [
  'POST /v1/ui/invoices/:invoiceRef/charge',
  'POST /v1/sdk/payment-intents',
  'POST /v1/sdk/payment-intents/:paymentIntentRef/business-details',
  'POST /v1/sdk/payment-intents/:paymentIntentRef/process',
  // Only the data plane calls this route, after a debit.
  'POST /v1/sdk/auto-recharge/beginnings',
  // These routes need a signature instead of a key.
  'POST /webhooks/stripe/sandbox',
  'POST /webhooks/stripe/live',
]
