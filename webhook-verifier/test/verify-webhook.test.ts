import { runInNewContext } from 'node:vm'
import { signWebhook } from '@tollgate/domain/webhooks/sign-webhook'
import fc from 'fast-check'
import Stripe from 'stripe'
import { expect, test } from 'vitest'
import {
  verifyWebhook,
  WebhookVerificationError,
  type WebhookFault,
  type WebhookToVerify,
} from '../src/verify-webhook.ts'
import { vectors, type Vector } from './vectors.ts'

function faultOf(webhook: WebhookToVerify): WebhookFault | null {
  try {
    verifyWebhook(webhook)
    return null
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.fault
    throw error
  }
}

function received({ header, bodyBase64, secret, receivedUnixSeconds }: Vector): WebhookToVerify {
  return {
    body: Buffer.from(bodyBase64, 'base64'),
    signature: header,
    secrets: secret,
    now: new Date(receivedUnixSeconds * 1_000),
  }
}

test.each(vectors)('vector: $name', (vector) => {
  expect(faultOf(received(vector))).toBe(vector.fault)
})

test('accepts the body as text and as bytes', () => {
  for (const vector of vectors) {
    const body = Buffer.from(vector.bodyBase64, 'base64').toString()
    expect(faultOf({ ...received(vector), body })).toBe(vector.fault)
  }
})

test.each(vectors.filter(({ name }) => !name.includes('earlier')))(
  "Stripe's client gives the same result: $name",
  ({ header, bodyBase64, secret, receivedUnixSeconds, fault }) => {
    const body = Buffer.from(bodyBase64, 'base64')
    const now = receivedUnixSeconds * 1_000
    const verify = () =>
      Stripe.webhooks.signature!.verifyHeader(body, header, secret, 300, undefined, now)
    if (fault === null) expect(verify()).toBe(true)
    else expect(verify).toThrow()
  },
)

test('accepts a signature of any of the secrets, and refuses every change', () => {
  const secret = fc.stringMatching(/^whsec_[0-9A-Za-z]{32}$/)
  fc.assert(
    fc.property(
      fc.uniqueArray(secret, { minLength: 1, maxLength: 3 }),
      fc.json(),
      fc.nat(4_000_000_000),
      fc.nat(),
      ([...secrets], body, sentUnixSeconds, at) => {
        const bytes = Buffer.from(body)
        const signature = signWebhook(secrets, bytes, sentUnixSeconds)
        const webhook = { signature, secrets, now: new Date(sentUnixSeconds * 1_000) }
        for (const each of secrets) {
          expect(faultOf({ ...webhook, body: bytes, secrets: ['whsec_another', each] })).toBe(null)
        }
        const changed = Buffer.from(bytes)
        changed[at % changed.byteLength]! ^= 1
        expect(faultOf({ ...webhook, body: changed })).toBe('mismatch')
      },
    ),
  )
})

test('returns the event, and refuses a signed body that is not JSON', () => {
  const now = new Date(1_000)
  const verify = (body: string) =>
    verifyWebhook({
      body,
      signature: signWebhook(['whsec_1'], Buffer.from(body), 1),
      secrets: 'whsec_1',
      now,
    })
  expect(verify('{"id":"evt_1"}')).toEqual({ id: 'evt_1' })
  expect(() => verify('{"id"')).toThrow(expect.objectContaining({ fault: 'not-json' }))
})

test.each([null, undefined, ''])('reports the signature %j as missing', (signature) => {
  expect(faultOf({ body: '{}', signature, secrets: 'whsec_1' })).toBe('missing')
})

test('throws a TypeError for an empty secret, and never verifies with it', () => {
  const signature = signWebhook([''], Buffer.from('{}'), 1)
  const verify = () => verifyWebhook({ body: '{}', signature, secrets: '', now: new Date(1_000) })
  expect(verify).toThrow(TypeError)
})

test('accepts a webhook within the tolerance that the receiver sets', () => {
  const signature = signWebhook(['whsec_1'], Buffer.from('{}'), 1_000)
  const faultAt = (seconds: number, toleranceSeconds: number) =>
    faultOf({
      body: '{}',
      signature,
      secrets: 'whsec_1',
      toleranceSeconds,
      now: new Date(seconds * 1_000),
    })
  expect([faultAt(1_010, 10), faultAt(1_011, 10), faultAt(990, 10), faultAt(989, 10)]).toEqual([
    null,
    'expired',
    null,
    'expired',
  ])
  expect(faultAt(1_000, Number.NaN)).toBe('expired')
})

test('accepts any input only if it was signed, and otherwise refuses it with a fault', () => {
  const body = Buffer.from('{"id":"evt_1"}')
  const signed = signWebhook(['whsec_1'], body, 1_000)
  const [t = '', v1 = ''] = signed.split(',')
  const part = fc.oneof(
    fc.constantFrom(t, v1, 't=', 'v1=', ',', '=', 't=1000.0', 't=1e3', 't=\u0661'),
    fc.string({ unit: 'binary' }),
  )
  const received = fc.record({
    signature: fc.oneof(fc.constant(signed), fc.array(part).map(String), fc.string()),
    body: fc.oneof(fc.constant(body), fc.uint8Array(), fc.string({ unit: 'binary' })),
    now: fc.oneof(fc.constant(new Date(1_000_000)), fc.date({ noInvalidDate: false })),
    toleranceSeconds: fc.oneof(fc.constant(300), fc.double()),
  })
  let taken = 0
  fc.assert(
    fc.property(received, (webhook) => {
      if (faultOf({ ...webhook, secrets: 'whsec_1' }) !== null) return
      taken += 1
      expect(webhook.body).toEqual(body)
      expect(webhook.signature.split(',')).toEqual(expect.arrayContaining([t, v1]))
    }),
    { numRuns: 5_000, seed: 1 },
  )
  expect(taken).toBeGreaterThan(10)
})

test('refuses any changed byte of the body or of the signature', () => {
  const body = Buffer.from('{"id":"evt_1"}')
  const signature = signWebhook(['whsec_1'], body, 1_000)
  const webhook = { secrets: 'whsec_1', now: new Date(1_000_000) }
  const other = fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 }))
  const change = (bytes: Buffer, [at, difference]: readonly [number, number]): Buffer => {
    const changed = Buffer.from(bytes)
    changed[at % changed.byteLength]! ^= difference
    return changed
  }
  fc.assert(
    fc.property(other, (at) => {
      expect(faultOf({ ...webhook, signature, body: change(body, at) })).toBe('mismatch')
      const changed = change(Buffer.from(signature), at).toString('latin1')
      expect(faultOf({ ...webhook, body, signature: changed })).not.toBe(null)
    }),
    { numRuns: 2_000 },
  )
})

test.each([
  ['a parsed body', { body: { id: 'evt_1' }, secrets: 'whsec_1' }, 'not raw'],
  ['no body', { body: undefined, secrets: 'whsec_1' }, 'not raw'],
  ['no secret', { body: '{}', secrets: undefined }, 'no secret'],
  ['no secrets', { body: '{}', secrets: [] }, 'no secret'],
  ['one empty secret of two', { body: '{}', secrets: ['whsec_1', ''] }, 'no secret'],
])('throws a TypeError for %s, whatever was sent', (_, mistaken, message) => {
  for (const signature of [undefined, 't=1,v1=1']) {
    const verify = () => verifyWebhook({ ...mistaken, signature } as unknown as WebhookToVerify)
    expect(verify).toThrow(TypeError)
    expect(verify).toThrow(message)
  }
})

test('accepts a Uint8Array of another realm, as test runners create them', () => {
  const body = runInNewContext('new Uint8Array([123, 125])') as Uint8Array
  const signature = signWebhook(['whsec_1'], Buffer.from('{}'), 1)
  const webhook = { signature, secrets: 'whsec_1', now: new Date(1_000) }
  expect(body instanceof Uint8Array).toBe(false)
  expect(verifyWebhook({ ...webhook, body })).toEqual({})
})
