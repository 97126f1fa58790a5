import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { verifyWebhook } from './verify-webhook.ts'

const access = { webhookSecrets: ['whsec_old', 'whsec_new'], isLive: false }
const signedAt = 1_800_000_000
const now = new Date((signedAt + 300) * 1_000)
const event = {
  id: 'evt_1',
  object: 'event',
  type: 'payment_intent.succeeded',
  created: 1_799_999_000,
  livemode: false,
  data: { object: { id: 'pi_1', object: 'payment_intent', status: 'succeeded' } },
}

function signed(body: unknown, secret: string): [Uint8Array, string] {
  const text = JSON.stringify(body)
  const digest = createHmac('sha256', secret).update(`${signedAt}.${text}`).digest('hex')
  return [Buffer.from(text), `t=${signedAt},v1=${digest}`]
}

test.each(access.webhookSecrets)(
  'accepts a webhook signed with %s, and reads no state from it',
  (secret) => {
    expect(verifyWebhook(access, ...signed(event, secret), now)).toEqual({
      verdict: 'genuine',
      event: {
        id: 'evt_1',
        type: 'payment_intent.succeeded',
        objectId: 'pi_1',
        objectKind: 'payment_intent',
        account: undefined,
        createdAt: new Date(1_799_999_000_000),
      },
    })
  },
)

test('returns the account of the event, and no kind for objects that we do not process', () => {
  const other = {
    ...event,
    account: 'acct_1',
    data: { object: { id: 'cus_1', object: 'customer' } },
  }
  expect(verifyWebhook(access, ...signed(other, 'whsec_new'), now)).toMatchObject({
    event: { objectId: 'cus_1', objectKind: undefined, account: 'acct_1' },
  })
})

test('rejects a webhook that is a second too old', () => {
  const late = new Date(now.getTime() + 1_000)
  expect(verifyWebhook(access, ...signed(event, 'whsec_new'), late)).toMatchObject({
    verdict: 'rejected',
    reason: 'too_old',
  })
})

test.each([
  ['another secret', ...signed(event, 'whsec_other')],
  ['a body that was changed', Buffer.from('{}'), signed(event, 'whsec_new')[1]],
  ['no signature', Buffer.from('{}'), ''],
  ['a malformed signature', Buffer.from('{}'), 'v1'],
  ['no body', new Uint8Array(), signed(event, 'whsec_new')[1]],
])('rejects %s', (_, body, signature) => {
  expect(verifyWebhook(access, body, signature, now)).toMatchObject({ reason: 'bad_signature' })
})

test.each([null, [], { ...event, data: {} }, { ...event, created: 'now' }, 'text'])(
  'rejects %j, which is signed but not an event',
  (body) => {
    expect(verifyWebhook(access, ...signed(body, 'whsec_new'), now)).toMatchObject({
      reason: 'unreadable',
    })
  },
)

test('rejects an event of the other environment', () => {
  const live = signed({ ...event, livemode: true }, 'whsec_new')
  expect(verifyWebhook(access, ...live, now)).toMatchObject({ reason: 'other_environment' })
})
