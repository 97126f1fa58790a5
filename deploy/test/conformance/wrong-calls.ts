import { generateSecretKey } from '@tollgate/domain/api-keys/secret-key'
import { randomBytes } from 'node:crypto'
import type { ErrorCode } from '@tollgate/schemas/http/error-codes'

/** An invalid request. Names in braces are references of the world. */
export type WrongCall = {
  readonly call: string
  /** Value of the Authorization header, '' for none. Default: the key of the world. */
  readonly authorization?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array<ArrayBuffer>
  readonly status: number
  readonly code: ErrorCode
  readonly message: string
  readonly allow?: string
}

type Outcome = Pick<WrongCall, 'status' | 'code' | 'message' | 'allow'>

const hot = 'POST /v1/sdk/usages'
const management = 'POST /v1/sdk/products'
const goodBody = { [hot]: '{"customerRef":"u"}', [management]: '{"name":"Search"}' }

function outcome(status: number, code: ErrorCode, message: string): Outcome {
  return { status, code, message }
}

/** Returns the same invalid request for both kinds of routes, with the same expected answer. */
function onBoth(wrong: Omit<WrongCall, 'call' | keyof Outcome>, answer: Outcome): WrongCall[] {
  return [hot, management].map((call) => ({
    call,
    body: goodBody[call as keyof typeof goodBody],
    ...wrong,
    ...answer,
  }))
}

const missing = outcome(
  401,
  'missing_key',
  'Invalid or expired secret key: the request has none. Send the header "Authorization: Bearer <secret key>"',
)
const malformed = outcome(
  401,
  'malformed_key',
  'Invalid or expired secret key: the credential does not have the form of one. Copy the whole key, which begins with sk_sandbox_ or sk_live_',
)
const unknownKey = generateSecretKey('sandbox', randomBytes)
const otherEnd = unknownKey.endsWith('a') ? 'b' : 'a'

const keys: WrongCall[] = [
  ...onBoth({ authorization: '' }, missing),
  ...onBoth({ authorization: 'Bearer' }, missing),
  ...onBoth({ authorization: 'nonsense' }, malformed),
  ...onBoth({ authorization: 'Basic dXNlcjpwYXNz' }, malformed),
  ...onBoth({ authorization: 'Bearer a b' }, malformed),
  ...onBoth({ authorization: `Bearer ${unknownKey.slice(0, -1)}${otherEnd}` }, malformed),
  ...onBoth({ authorization: `Bearer sk_live_${'a'.repeat(200)}` }, malformed),
  ...onBoth({ authorization: '', headers: { 'x-api-key': 'sk_sandbox_x' } }, malformed),
  ...onBoth(
    { authorization: `Bearer ${unknownKey}` },
    outcome(401, 'invalid_key', 'Invalid or expired secret key'),
  ),
  {
    call: hot,
    authorization: 'Bearer {readKey}',
    body: goodBody[hot],
    ...outcome(403, 'missing_scope', 'This key does not have the scope ingest'),
  },
  {
    call: management,
    authorization: 'Bearer {readKey}',
    body: goodBody[management],
    ...outcome(403, 'missing_scope', 'This key does not have the scope manage'),
  },
]

const invalid = outcome(400, 'validation_failed', 'Validation failed')
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const parts = { 'content-type': 'multipart/form-data; boundary=x' }
const otherType = outcome(
  415,
  'unsupported_media_type',
  'Send a JSON body with Content-Type: application/json',
)

const bodies: WrongCall[] = [
  ...onBoth({ body: '' }, outcome(400, 'empty_body', 'The body is empty, expected a JSON object')),
  ...onBoth({ body: '{"name":' }, outcome(400, 'invalid_json', 'The body is not valid JSON')),
  ...onBoth({ body: 'customerRef=u' }, outcome(400, 'invalid_json', 'The body is not valid JSON')),
  ...onBoth(
    { body: new Uint8Array([0x22, 0xff, 0x22]) },
    outcome(400, 'invalid_utf8', 'The body is not valid UTF-8'),
  ),
  ...onBoth({ body: '[]' }, invalid),
  ...onBoth({ body: 'null' }, invalid),
  ...onBoth({ body: '7' }, invalid),
  ...onBoth({ body: '{}' }, invalid),
  ...onBoth({ body: '{"customerRef":7,"name":7}' }, invalid),
  ...onBoth({ headers: form, body: 'a=b' }, otherType),
  ...onBoth({ headers: parts, body: '--x--' }, otherType),
  ...onBoth(
    { body: `{"a":"${'a'.repeat(1_048_576)}"}` },
    outcome(413, 'body_too_large', 'The body must not be larger than 1048576 bytes'),
  ),
  ...onBoth(
    { headers: { 'idempotency-key': 'a'.repeat(257) } },
    outcome(
      400,
      'invalid_idempotency_key',
      'Idempotency-Key must be 1 to 256 printable ASCII characters',
    ),
  ),
  {
    call: management,
    body: '{"name":"a","__proto__":{"x":1}}',
    ...outcome(
      400,
      'unsafe_json',
      'The body has a key that could change a prototype. Rename the key',
    ),
  },
]

function wrongMethod(call: string, ...allowed: readonly string[]): WrongCall {
  const verb = allowed.length === 1 ? 'is' : 'are'
  const allow = allowed.join(', ')
  const message = `Only ${allow} ${verb} allowed here`
  return { call, ...outcome(405, 'method_not_allowed', message), allow }
}

const methodsAndPaths: WrongCall[] = [
  wrongMethod('GET /v1/sdk/usages', 'POST'),
  wrongMethod('PUT /v1/sdk/meter-events/bulk?a=1', 'POST'),
  wrongMethod('DELETE /v1/sdk/limits', 'POST'),
  wrongMethod('OPTIONS /v1/sdk/usages', 'POST'),
  wrongMethod('DELETE /v1/sdk/products?a=1', 'GET', 'HEAD', 'POST'),
  wrongMethod('POST /v1/sdk/purchases/{purchaseRef}', 'GET', 'HEAD'),
  wrongMethod('PATCH /v1/openapi.json', 'GET', 'HEAD'),
  { call: 'GET /v1/sdk/nothing', ...outcome(404, 'route_not_found', 'Cannot GET /v1/sdk/nothing') },
  {
    call: 'POST /v1/sdk/usages/',
    body: '{}',
    ...outcome(404, 'route_not_found', 'Cannot POST /v1/sdk/usages/'),
  },
  {
    call: 'GET /v1/sdk/products/%ZZ',
    ...outcome(400, 'malformed_request', "'/v1/sdk/products/%ZZ' is not a valid url component"),
  },
]

const names: WrongCall[] = [
  {
    call: 'GET /v1/sdk/customers',
    ...outcome(
      400,
      'ambiguous_customer_query',
      'Must provide exactly one of reference, externalRef, or email',
    ),
  },
  {
    call: 'GET /v1/sdk/customers/nobody',
    ...outcome(404, 'customer_not_found', 'Customer with reference nobody not found'),
  },
  {
    call: 'POST /v1/sdk/limits',
    body: '{"customerRef":"nobody","productRef":"{productRef}"}',
    ...outcome(404, 'customer_not_found', 'Customer with reference nobody not found'),
  },
  {
    call: 'GET /v1/sdk/products/prd_UNKNOWN1',
    ...outcome(404, 'product_not_found', 'Product with reference prd_UNKNOWN1 not found'),
  },
  {
    call: 'POST /v1/sdk/payment-intents',
    body: '{"productRef":"{productRef}","planRef":"{paidPlanRef}","customerRef":"{customerRef}"}',
    ...outcome(400, 'idempotency_key_required', 'idempotency-key header is required'),
  },
  {
    call: 'GET /v1/sdk/payment-intents/pi_UNKNOWN1',
    ...outcome(404, 'PAYMENT_INTENT_NOT_FOUND', 'Payment intent not found'),
  },
  {
    call: 'POST /v1/sdk/meter-events',
    body: '{"customerRef":"u","meterName":"unknown"}',
    ...invalid,
  },
]

const strict = { 'tollgate-strict': 'true' }
const unknownField = outcome(400, 'unknown_field', 'Validation failed')
const unknownParameter = outcome(400, 'unknown_parameter', 'Validation failed')

const strictCalls: WrongCall[] = [
  ...onBoth(
    { headers: strict, body: '{"customerRef":"u","name":"Search","nmae":1}' },
    unknownField,
  ),
  ...onBoth(
    {
      authorization: 'Bearer {strictKey}',
      body: '{"customerRef":"u","name":"Search","nmae":1}',
    },
    unknownField,
  ),
  {
    call: 'POST /v1/sdk/usages/bulk',
    headers: strict,
    body: '{"events":[{"customerRef":"u"},{"customerRef":"u","unit":2}]}',
    ...unknownField,
  },
  {
    call: 'POST /v1/sdk/limits?page=1',
    headers: strict,
    body: '{"customerRef":"{customerRef}","productRef":"{productRef}"}',
    ...unknownParameter,
  },
  { call: 'GET /v1/sdk/products?limt=1', headers: strict, ...unknownParameter },
]

export const wrongCalls: readonly WrongCall[] = [
  ...keys,
  ...bodies,
  ...methodsAndPaths,
  ...names,
  ...strictCalls,
]
