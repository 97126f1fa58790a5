import { define } from './definition.ts'

/** Error codes of the request itself, for every route. */
export const requestCodes = {
  malformed_request: define(
    [400, 414],
    'The server cannot read the request line, a header or the path.',
    'Build requests with an HTTP library, and percent-encode paths.',
  ),
  ambiguous_length: define(
    400,
    'The request has no length that every proxy would read the same way.',
    'Send one Content-Length header, or Transfer-Encoding: chunked, and not both.',
  ),
  wrong_host: define(
    400,
    'The request has no Host header, or several.',
    'Send exactly one Host header.',
  ),
  repeated_credentials: define(
    400,
    'The request has several Authorization headers or several X-API-Key headers.',
    'Send the key in one header.',
  ),
  empty_body: define(
    400,
    'The operation needs a body, and the body is empty.',
    'Send a JSON object.',
  ),
  invalid_utf8: define(400, 'The body is not valid UTF-8.', 'Encode the body as UTF-8.'),
  invalid_json: define(
    400,
    'The body is not valid JSON.',
    'Serialize the body with a JSON library, and check that it is sent completely.',
  ),
  unsafe_json: define(
    400,
    'The body has a key, such as `__proto__`, that could change a prototype.',
    'Rename the key.',
  ),
  validation_failed: define(
    400,
    'A field or parameter is missing, has the wrong type or breaks a rule.',
    'Read `errors`: each entry names the path and what is wrong.',
  ),
  unknown_field: define(
    400,
    'The request is strict, and its body has a field that the operation does not know.',
    'Read `errors`, and correct or remove the fields.',
  ),
  unknown_parameter: define(
    400,
    'The request is strict, and its query has a parameter that the operation does not know.',
    'Read `errors`, and correct or remove the parameters.',
  ),
  invalid_idempotency_key: define(
    400,
    'The Idempotency-Key header is too long, or has characters that are not printable ASCII.',
    'Send 1 to 256 printable ASCII characters, such as a UUID.',
  ),
  idempotency_key_required: define(
    400,
    'The operation needs an Idempotency-Key header.',
    'Send a new key for each new operation, and the same key when you retry.',
  ),
  idempotency_key_reused: define(
    409,
    'The idempotency key was used with another request.',
    'Use a new key for a request that differs.',
  ),
  missing_key: define(
    401,
    'The request has no secret key.',
    'Send `Authorization: Bearer <secret key>`, or the key in X-API-Key.',
  ),
  malformed_key: define(
    401,
    'The credential does not have the form of a secret key.',
    'Copy the whole key: `sk_sandbox_` or `sk_live_` and 49 characters.',
  ),
  invalid_key: define(
    401,
    'No such secret key exists, or it has expired or was revoked.',
    'Use a key that is in use, or create one.',
  ),
  invalid_access_token: define(
    401,
    'The access token of the console has expired or never existed.',
    'Sign in again.',
  ),
  invalid_poll_token: define(
    401,
    'The poll token of the command-line session has expired or never existed.',
    'Start to sign in again.',
  ),
  missing_scope: define(
    403,
    'The key does not have the scope that the operation needs.',
    'Use a key with that scope.',
  ),
  missing_role: define(
    403,
    'The role of the signed-in user does not allow the operation.',
    'Ask an owner of the provider.',
  ),
  user_required: define(
    403,
    'Only a signed-in user may do this; a secret key may not.',
    'Sign in to the console.',
  ),
  key_env_mismatch: define(
    403,
    'The key is a live one, and its provider is not live yet.',
    'Use a sandbox key, or have the operator make the provider live.',
  ),
  provider_not_found_in_environment: define(
    404,
    'The provider exists in the sandbox, and is not live yet.',
    'Use a sandbox key, or have the operator make the provider live.',
  ),
  route_not_found: define(
    404,
    'No operation has this path.',
    'Check the path against the API reference.',
  ),
  method_not_allowed: define(
    405,
    'The path exists, but does not accept this method.',
    'Use one of the methods that the Allow header lists.',
  ),
  length_required: define(
    411,
    'The body is chunked, which this listener does not accept.',
    'Send the body with a Content-Length header.',
  ),
  body_too_large: define(
    413,
    'The body is larger than the limit.',
    'Send fewer records per request.',
  ),
  unsupported_media_type: define(
    415,
    'The operation does not accept the content type of the body.',
    'Send JSON with Content-Type: application/json; for an image, its own type.',
  ),
  expectation_failed: define(
    417,
    'The Expect header has a value other than 100-continue.',
    'Omit the Expect header.',
  ),
  internal_error: define(
    500,
    'The server has a defect. The log has the details under the request id.',
    'Retry once; if it happens again, report the request id.',
  ),
  unavailable: define(
    503,
    'A part of the service is down, starting or lagging behind.',
    'Retry after the seconds in Retry-After.',
  ),
  overloaded: define(
    503,
    'Too many requests are in flight.',
    'Retry after the seconds in Retry-After, with fewer requests at a time.',
  ),
  usage_behind: define(
    503,
    'Usage that was just accepted is not stored or counted yet.',
    'Retry after the seconds in Retry-After.',
  ),
  reservations_full: define(
    503,
    'The customer, or the installation, holds as many reservations as are allowed.',
    'Release reservations, or retry after the seconds in Retry-After.',
  ),
  secrets_unavailable: define(
    503,
    'The installation has no keys to encrypt secrets with.',
    'The operator sets TOLLGATE_SECRET_KEYS.',
  ),
} as const
