/** They hold usage, or ask: machines call them for each call of their own customers. An entry names a page that they open. */
export const unauditedRoutes = [
  'POST /v1/sdk/user-info',
  'POST /v1/sdk/limits',
  'POST /v1/sdk/limits/release',
  // The same of OAuth clients. What a customer allows is an entry: the customer of the first consent, and the client of an agent.
  'POST /*',
  'POST /v1/customer/auth/register',
  'POST /v1/customer/auth/revoke',
  'POST /v1/customer/auth/token',
  // It ends a session, as time does.
  'POST /v1/ui/auth/sign-out',
  // Of a command line that has no key yet; whoever gives it one is told of.
  'POST /v1/ui/provider/auth/cli-init/sessions',
  'POST /v1/ui/provider/auth/cli-init/sessions/:sessionId/exchange',
  'POST /v1/ui/provider/auth/cli-init/sessions/:sessionId/cancel',
]

/** They need a payment processor: what they leave behind is tested where there is one. */
export const payingRoutes = [
  'POST /v1/sdk/payment-intents',
  'POST /v1/sdk/payment-intents/:paymentIntentRef/business-details',
  'POST /v1/sdk/payment-intents/:paymentIntentRef/process',
  // The data plane's own, behind a debit.
  'POST /v1/sdk/auto-recharge/beginnings',
  // Takes no key, but a signature.
  'POST /webhooks/stripe/sandbox',
  'POST /webhooks/stripe/live',
]
