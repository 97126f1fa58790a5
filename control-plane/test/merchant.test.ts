import { afterAll, beforeAll, expect, test } from 'vitest'
import type { MerchantBody } from '@tollgate/schemas/http/merchants'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

/* The details of a provider that its customers see. */

let stack: TestStack
let tenant: Tenant

beforeAll(async () => {
  stack = await startTestStack({
    settings: {
      TOLLGATE_HOSTED_URL: 'https://pay.example',
      TOLLGATE_STRIPE_SANDBOX_PUBLISHABLE_KEY: 'pk_test_1',
    },
  })
  tenant = await stack.createTenant()
})
afterAll(() => stack.stop())

const merchant = async (key = tenant.sandboxKey) =>
  (await stack.call<MerchantBody>(key, 'GET', '/v1/sdk/merchant')).body

function change(fields: object) {
  return stack.call<MerchantBody>(tenant.sandboxKey, 'PATCH', '/v1/ui/merchant', fields)
}

test('returns the name and the currency of a provider without settings', async () => {
  expect(await merchant()).toEqual({
    name: 'Acme',
    displayName: 'Acme',
    legalName: 'Acme',
    defaultCurrency: 'USD',
    supportedTopupCurrencies: ['USD'],
  })
})

test('returns settings under all names, only in their environment and to their provider', async () => {
  const { status, body } = await change({
    legalName: 'Acme Inc.',
    supportEmail: 'help@acme.example',
    termsUrl: 'https://acme.example/terms',
    country: 'se',
    supportedTopupCurrencies: ['sek', 'USD'],
  })
  expect(status).toBe(200)
  expect(body).toMatchObject({
    legalName: 'Acme Inc.',
    supportEmail: 'help@acme.example',
    supportContact: 'help@acme.example',
    termsUrl: 'https://acme.example/terms',
    country: 'SE',
    supportedTopupCurrencies: ['USD', 'SEK'],
  })
  expect(await merchant(tenant.liveKey)).not.toHaveProperty('supportEmail')
  const other = await stack.createTenant('EUR')
  expect(await merchant(other.sandboxKey)).toMatchObject({ defaultCurrency: 'EUR' })
  expect(await merchant(other.sandboxKey)).not.toHaveProperty('supportEmail')
})

test('changes the given fields, and removes a field with null', async () => {
  await change({ supportUrl: 'https://acme.example/help', vatNumber: 'SE1' })
  await Promise.all([change({ supportEmail: null }), change({ taxId: 'T1' })])
  const body = await merchant()
  expect(body).toMatchObject({ vatNumber: 'SE1', taxId: 'T1', legalName: 'Acme Inc.' })
  expect(body.supportContact).toBe('https://acme.example/help')
  expect(body).not.toHaveProperty('supportEmail')
})

test('changes the brand and the address in one environment only', async () => {
  const address = ' Kungsgatan 12 \n\n111 43 Stockholm'
  const { status, body } = await change({ name: ' Acme Weather ', accentColor: '#0F766E', address })
  expect(status).toBe(200)
  expect(body).toMatchObject({
    name: 'Acme Weather',
    displayName: 'Acme Weather',
    accentColor: '#0f766e',
    address: 'Kungsgatan 12\n111 43 Stockholm',
  })
  expect(await merchant(tenant.liveKey)).toMatchObject({ name: 'Acme' })
  expect((await change({ displayName: 'Weather' })).body.name).toBe('Weather')
  await change({ name: null, accentColor: null, address: null })
  expect(await merchant()).toMatchObject({ name: 'Acme' })
  expect(await merchant()).not.toHaveProperty('accentColor')
  expect(await merchant()).not.toHaveProperty('address')
})

test('names an unknown field and the nearest known one', async () => {
  const { status, body } = await change({ acentColor: '#0f766e', logo: 'x', termsUrl: null })
  expect(status).toBe(400)
  expect(body).toMatchObject({
    message: 'Validation failed',
    errors: [
      {
        code: 'unrecognized_keys',
        message: 'Unknown field `acentColor`. Did you mean `accentColor`? Unknown field `logo`.',
      },
    ],
  })
  expect((await merchant()).termsUrl).toBe('https://acme.example/terms')
})

test.each([
  ['an address that is none', { termsUrl: 'acme.example' }],
  ['a script for an address', { privacyUrl: 'javascript:alert(1)' }],
  ['a colour by name', { accentColor: 'teal' }],
  ['a short colour', { accentColor: '#fff' }],
  ['an empty name', { name: ' ' }],
  ['two names', { name: 'Acme', displayName: 'Other' }],
  ['an address of seven lines', { address: 'x\n'.repeat(6) }],
  ['an address with a control character', { address: 'Main Street\u0007' }],
  ['a country by name', { country: 'Sweden' }],
  ['a long statement descriptor', { statementDescriptor: 'x'.repeat(23) }],
])('refuses %s', async (_, fields) => {
  expect((await change(fields)).status).toBe(400)
})

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

async function upload(kind: string, bytes: Buffer, key = tenant.sandboxKey) {
  const headers = { 'content-type': 'image/png' }
  const raw = { body: new Uint8Array(bytes), headers }
  return stack.callRaw<{ url: string }>(key, 'PUT', `/v1/ui/merchant/${kind}`, raw)
}

test('serves a logo publicly, with a long cache time and without execution', async () => {
  const { status, body } = await upload('logo', png)
  expect(status).toBe(200)
  expect(body.url).toMatch(
    /^https:\/\/pay\.example\/v1\/files\/public\/provider-assets\/[0-9a-f]{64}$/,
  )
  expect((await merchant()).logoUrl).toBe(body.url)
  expect(await merchant()).not.toHaveProperty('iconUrl')
  const { pathname } = new URL(body.url)
  for (const path of [pathname, pathname.replace('/v1/', '/v1/ui/')]) {
    const answer = await stack.fetch(path)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('image/png')
    expect(answer.headers.get('cache-control')).toContain('immutable')
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(png)
  }
})

test.each([
  ['text', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>')],
  ['nothing', Buffer.alloc(0)],
])('refuses %s as an image', async (_, bytes) => {
  expect((await upload('icon', bytes)).status).toBe(415)
})

test('responds to an unknown image or kind with an error', async () => {
  const path = `/v1/files/public/provider-assets/${'0'.repeat(64)}`
  expect((await stack.fetch(path)).status).toBe(404)
  expect((await upload('banner', png)).status).toBe(400)
})

test('returns the publishable key of the environment', async () => {
  const ask = (key: string) => stack.call<object>(key, 'GET', '/v1/sdk/platform-config')
  expect((await ask(tenant.sandboxKey)).body).toEqual({ stripePublishableKey: 'pk_test_1' })
  expect((await ask(tenant.liveKey)).body).toEqual({})
})
