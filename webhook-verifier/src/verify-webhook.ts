import { createHmac, timingSafeEqual } from 'node:crypto'

/** The body of a webhook. `data.object` has the fields that the documentation lists for the event's `type`. */
export type WebhookEvent = {
  /** Id of the event, `evt_…`. It is the same for every endpoint and every attempt. */
  readonly id: string
  /** Event type, for example `payment.succeeded`. Respond with 200 to unknown types as well. */
  readonly type: string
  /** Time of the event in Unix seconds. */
  readonly created: number
  readonly api_version: string
  readonly data: {
    readonly object: Readonly<Record<string, unknown>>
    readonly previous_attributes: Readonly<Record<string, unknown>> | null
  }
  /** False for events of the sandbox. */
  readonly livemode: boolean
  /** The request that caused the event, if one did. */
  readonly request: { readonly id: string | null; readonly idempotency_key: string | null }
}

export type WebhookToVerify = {
  /** The raw body exactly as it was received, before parsing. A parsed and re-serialized body does not match the signature. */
  readonly body: string | Uint8Array
  /** Value of the header `SV-Signature`. */
  readonly signature: string | null | undefined
  /** The endpoint's secret with its prefix `whsec_`. During a rotation, both the old and the new secret. */
  readonly secrets: string | readonly string[]
  /** Maximum difference between signing and receiving, in seconds, in either direction. Default: 300. */
  readonly toleranceSeconds?: number
  readonly now?: Date
}

export type WebhookFault =
  /** The header `SV-Signature` is missing. */
  | 'missing'
  /** The header does not have exactly one numeric `t`, or has no `v1`. */
  | 'malformed'
  /** The webhook was signed too long ago, or too far in the future. */
  | 'expired'
  /** No signature matches this body with one of these secrets. */
  | 'mismatch'
  /** The signature is valid, but the body is not JSON. */
  | 'not-json'

export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError'
  readonly fault: WebhookFault

  constructor(fault: WebhookFault, message: string, options?: ErrorOptions) {
    super(message, options)
    this.fault = fault
  }
}

/**
 * Verifies a webhook and returns its event. Throws a WebhookVerificationError if the webhook was not signed with one of the secrets
 * within the tolerance: respond with 401 then. Throws a TypeError for a mistake in the receiver: a body that is no longer raw, or
 * no secret.
 */
export function verifyWebhook(webhook: WebhookToVerify): WebhookEvent {
  const { body, signature, toleranceSeconds = 300, now = new Date() } = webhook
  requireRaw(body)
  const secrets = requireSecrets(webhook.secrets)
  const { t, signatures } = parseSignature(signature)
  const ageSeconds = Math.floor(now.getTime() / 1_000) - Number(t)
  if (!(Math.abs(ageSeconds) <= toleranceSeconds)) {
    throw new WebhookVerificationError('expired', `The webhook was signed ${ageSeconds} s ago`)
  }
  const expected = secrets.map((secret) => sign(secret, t, body))
  if (!hasOneOf(signatures, expected)) {
    const message =
      'No signature is for this body: is it the raw body, and the secret of this endpoint?'
    throw new WebhookVerificationError('mismatch', message)
  }
  return parseEvent(body)
}

/* Both checks run at runtime too, for callers without types. */

function requireRaw(body: unknown): void {
  if (typeof body === 'string' || ArrayBuffer.isView(body)) return
  throw new TypeError(
    'The body is not raw: verify the text or bytes that came, before they are parsed',
  )
}

/** Refuses empty secrets, because anyone can sign with an empty secret. */
function requireSecrets(given: string | readonly string[]): readonly string[] {
  const secrets: readonly unknown[] = [given].flat()
  const areTexts = secrets.every((secret) => typeof secret === 'string' && secret !== '')
  if (areTexts && secrets.length > 0) return secrets as readonly string[]
  throw new TypeError('There is no secret, or an empty one')
}

function parseSignature(header: string | null | undefined): { t: string; signatures: string[] } {
  if (header === null || header === undefined || header === '') {
    throw new WebhookVerificationError('missing', 'There is no SV-Signature')
  }
  const parts = header.split(',')
  const valuesOf = (key: string) =>
    parts.filter((part) => part.startsWith(`${key}=`)).map((part) => part.slice(key.length + 1))
  const [t = '', ...otherTimes] = valuesOf('t')
  const signatures = valuesOf('v1')
  if (!/^\d{1,15}$/.test(t) || otherTimes.length > 0 || signatures.length === 0) {
    throw new WebhookVerificationError('malformed', 'SV-Signature is not t=<seconds>,v1=<digest>')
  }
  return { t, signatures }
}

function sign(secret: string, t: string, body: string | Uint8Array): string {
  return createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex')
}

/** Compares in constant time, whichever signature matches. */
function hasOneOf(signatures: readonly string[], expected: readonly string[]): boolean {
  let isFound = false
  for (const signature of signatures) {
    for (const digest of expected) {
      if (isSame(Buffer.from(signature), Buffer.from(digest))) isFound = true
    }
  }
  return isFound
}

function isSame(one: Buffer, other: Buffer): boolean {
  return one.byteLength === other.byteLength && timingSafeEqual(one, other)
}

function parseEvent(body: string | Uint8Array): WebhookEvent {
  try {
    return JSON.parse(
      typeof body === 'string' ? body : new TextDecoder().decode(body),
    ) as WebhookEvent
  } catch (error) {
    throw new WebhookVerificationError('not-json', 'The webhook is not JSON', { cause: error })
  }
}
