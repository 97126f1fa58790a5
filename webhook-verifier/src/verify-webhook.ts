import { createHmac, timingSafeEqual } from 'node:crypto'

/** What a webhook tells. `data.object` has the fields that the documentation lists for the event's `type`. */
export type WebhookEvent = {
  /** Begins with `evt_`. The same for every endpoint and every attempt. */
  readonly id: string
  /** For example `payment.succeeded`. Answer 200 also to a type that you do not know. */
  readonly type: string
  /** Unix seconds. */
  readonly created: number
  readonly api_version: string
  readonly data: {
    readonly object: Readonly<Record<string, unknown>>
    readonly previous_attributes: Readonly<Record<string, unknown>> | null
  }
  /** False in sandbox. */
  readonly livemode: boolean
  /** The request that caused the event, if one did. */
  readonly request: { readonly id: string | null; readonly idempotency_key: string | null }
}

export type WebhookToVerify = {
  /** The body exactly as it was received: before it is parsed, and not written again from what was parsed. */
  readonly body: string | Uint8Array
  /** The header `SV-Signature`. */
  readonly signature: string | null | undefined
  /** The endpoint's secret with its prefix `whsec_`; while it is exchanged, the old one and the new one. */
  readonly secrets: string | readonly string[]
  /** Seconds between signing and receiving, in either direction. 300 if nothing is given. */
  readonly toleranceSeconds?: number
  readonly now?: Date
}

export type WebhookFault =
  /** There is no `SV-Signature`. */
  | 'missing'
  /** It has not exactly one `t` of digits, or no `v1`. */
  | 'malformed'
  /** It was signed too long ago, or too far in the future. */
  | 'expired'
  /** None of its signatures is for this body with one of these secrets. */
  | 'mismatch'
  /** It is signed and not JSON. */
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
 * The event that a webhook tells, if it was signed with one of the secrets and not too long ago. Throws a
 * WebhookVerificationError otherwise: answer 401 then. A TypeError is a mistake of the receiver's own: a body that is no longer
 * raw, or no secret.
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

/* Both are asked of what callers without types pass as well. */

function requireRaw(body: unknown): void {
  if (typeof body === 'string' || ArrayBuffer.isView(body)) return
  throw new TypeError(
    'The body is not raw: verify the text or bytes that came, before they are parsed',
  )
}

/** Anyone can sign with nothing. */
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

/** Takes the same time whatever the digests are, and whichever of them is the right one. */
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
