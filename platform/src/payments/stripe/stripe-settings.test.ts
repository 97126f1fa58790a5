import { expect, test } from 'vitest'
import { readSettings } from '../../config/settings.ts'
import { stripeAccess, stripeSettings } from './stripe-settings.ts'

test('accepts no payments in an environment without a secret key', () => {
  const config = readSettings(stripeSettings, { TOLLGATE_STRIPE_LIVE_SECRET_KEY: 'rk_live_1' })
  expect(stripeAccess(config, 'sandbox')).toBeUndefined()
  expect(stripeAccess(config, 'live')).toMatchObject({ secretKey: 'rk_live_1', isLive: true })
  expect(stripeAccess(config, 'live')?.url.href).toBe('https://api.stripe.com/')
})

test('reads two webhook secrets during a rotation', () => {
  const config = readSettings(stripeSettings, {
    TOLLGATE_STRIPE_SANDBOX_SECRET_KEY: 'sk_test_1',
    TOLLGATE_STRIPE_SANDBOX_WEBHOOK_SECRETS: 'whsec_old,whsec_new',
  })
  expect(stripeAccess(config, 'sandbox')?.webhookSecrets).toEqual(['whsec_old', 'whsec_new'])
})

test.each([
  ['TOLLGATE_STRIPE_SANDBOX_SECRET_KEY', 'sk_live_secret'],
  ['TOLLGATE_STRIPE_LIVE_SECRET_KEY', 'sk_test_secret'],
  ['TOLLGATE_STRIPE_LIVE_SECRET_KEY', 'pk_live_secret'],
  ['TOLLGATE_STRIPE_SANDBOX_PUBLISHABLE_KEY', 'pk_live_secret'],
  ['TOLLGATE_STRIPE_LIVE_PUBLISHABLE_KEY', 'sk_live_secret'],
  ['TOLLGATE_STRIPE_SANDBOX_WEBHOOK_SECRETS', 'whsec_1,secret'],
])('refuses a key of the wrong kind in %s and does not repeat it', (variable, text) => {
  const reading = (): unknown => readSettings(stripeSettings, { [variable]: text })
  expect(reading).toThrow(`${variable}: `)
  expect(reading).not.toThrow('secret')
})

test.each(['ftp://stripe', 'api.stripe.com', 'https://api.stripe.com/v1'])(
  'refuses %s as an address',
  (url) => {
    const reading = (): unknown => readSettings(stripeSettings, { TOLLGATE_STRIPE_LIVE_URL: url })
    expect(reading).toThrow('TOLLGATE_STRIPE_LIVE_URL')
  },
)
