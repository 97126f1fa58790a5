import { pictureSha256 } from './provider.ts'
import { customer, instants, refs } from './story.ts'

/** Values of path and query parameters, by parameter name. */
const byName: Readonly<Record<string, unknown>> = {
  reference: refs.customer,
  externalRef: refs.externalRef,
  email: customer.email,
  customerRef: refs.externalRef,
  productRef: refs.product,
  planRef: refs.proPlan,
  purchaseRef: refs.purchase,
  meterRef: refs.requestsMeter,
  alertRef: refs.alert,
  sessionId: refs.session,
  eventId: refs.event,
  endpointId: refs.webhookEndpoint,
  deliveryId: refs.webhookDelivery,
  replayId: refs.webhookReplay,
  keyId: refs.key,
  invoiceRef: refs.invoice,
  creditNoteRef: 'crn_8N4QZ1T7XW2K',
  itemRef: 'ini_5WB7NK2QX9MD',
  reconciliationRef: 'rec_8N4QZ1T7XW2K',
  paymentIntentRef: 'pi_3QabcdTollgate0001',
  'idempotency-key': '5f0c8e3a-order-1042',
  userId: refs.user,
  actor: `user:${refs.user}`,
  sha256: pictureSha256,
  product_ref: refs.product,
  response_type: 'code',
  client_id: 'V1StGXR8_Z5jdHi6B-myT',
  redirect_uri: 'http://127.0.0.1:53124/callback',
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 'S256',
  state: 'af0ifjsldkj',
  scope: 'openid profile email',
  resource: 'https://acme-tools.mcp.billing.acme.example/mcp',
  kind: 'logo',
  job: 'renewals',
  currency: 'SEK',

  'Idempotency-Key': 'welcome-user_1042',
  search: 'search',
  status: 'active',
  type: 'purchase.created',
  isMcpPay: 'false',
  settle: 'bill_now',
  includeFree: 'false',
  from: '2026-03-01',
  to: '2026-03-03',
  granularity: 'day',
  groupBy: 'model',
  filter: '{"region":["eu","us"]}',
  top: 5,
  format: 'json',
  outcome: 'success',
  by: 'customer',
  before: refs.event,
  limit: 50,
  offset: 0,
}

/** Values for operations in which a name has another meaning. */
const byOperation: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  listCustomers: { search: 'ada' },
  listInvoices: { status: 'open' },
  listWebhookDeliveries: {
    type: 'payment.succeeded',
    state: 'failed',
    from: instants.created,
    to: instants.now,
    before: refs.webhookDelivery,
  },
  listAuditEntries: {
    reference: refs.proPlan,
    before: '1773476130125000-sandbox-1842',
    limit: '50',
  },
}

export function parameterExample(operationId: string, name: string): unknown {
  return byOperation[operationId]?.[name] ?? byName[name]
}
