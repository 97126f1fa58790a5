import type { Environment } from '@tollgate/schemas/environment'
import { integerSetting, secretSetting, type Setting } from '../../config/settings.ts'
import type { SettingValues } from '../../config/settings.ts'

/** How every service that charges cards is told of Stripe. The environments never share a key. */
export const stripeSettings = {
  stripeSandboxUrl: urlSetting('TOLLGATE_STRIPE_SANDBOX_URL', 'Where Stripe is for sandbox'),
  stripeLiveUrl: urlSetting('TOLLGATE_STRIPE_LIVE_URL', 'Where Stripe is for live'),
  stripeSandboxSecretKey: keySetting(
    'TOLLGATE_STRIPE_SANDBOX_SECRET_KEY',
    'Secret or restricted test key of Stripe; empty means that sandbox takes no payments',
    ['sk_test_', 'rk_test_'],
  ),
  stripeLiveSecretKey: keySetting(
    'TOLLGATE_STRIPE_LIVE_SECRET_KEY',
    'Secret or restricted live key of Stripe; empty means that live takes no payments',
    ['sk_live_', 'rk_live_'],
  ),
  stripeSandboxPublishableKey: keySetting(
    'TOLLGATE_STRIPE_SANDBOX_PUBLISHABLE_KEY',
    'Publishable key of Stripe that browsers get for sandbox payments',
    ['pk_test_'],
  ),
  stripeLivePublishableKey: keySetting(
    'TOLLGATE_STRIPE_LIVE_PUBLISHABLE_KEY',
    'The same for live payments',
    ['pk_live_'],
  ),
  stripeSandboxWebhookSecrets: secretsSetting(
    'TOLLGATE_STRIPE_SANDBOX_WEBHOOK_SECRETS',
    'What Stripe signs its sandbox webhooks with; while one replaces another, both with a comma between',
  ),
  stripeLiveWebhookSecrets: secretsSetting(
    'TOLLGATE_STRIPE_LIVE_WEBHOOK_SECRETS',
    'The same for live webhooks',
  ),
  stripeTimeoutMs: integerSetting(
    'TOLLGATE_STRIPE_TIMEOUT_MS',
    'Milliseconds that Stripe may take to answer before the outcome counts as unknown',
    15_000,
    { min: 100, max: 20_000 },
  ),
}

/** What one environment needs to talk to Stripe. */
export type StripeAccess = {
  readonly url: URL
  readonly secretKey: string
  readonly webhookSecrets: readonly string[]
  readonly isLive: boolean
  readonly timeoutMs: number
}

/** Undefined where no secret key is given: that environment takes no payments. */
export function stripeAccess(
  config: SettingValues<typeof stripeSettings>,
  environment: Environment,
): StripeAccess | undefined {
  const isLive = environment === 'live'
  const access: StripeAccess = {
    url: isLive ? config.stripeLiveUrl : config.stripeSandboxUrl,
    secretKey: isLive ? config.stripeLiveSecretKey : config.stripeSandboxSecretKey,
    webhookSecrets: isLive ? config.stripeLiveWebhookSecrets : config.stripeSandboxWebhookSecrets,
    isLive,
    timeoutMs: config.stripeTimeoutMs,
  }
  return access.secretKey === '' ? undefined : access
}

function urlSetting(variable: string, description: string): Setting<URL> {
  return {
    variable,
    description: `${description}: another address is that of a simulator`,
    defaultText: 'https://api.stripe.com',
    parse: (text) => {
      const url = URL.canParse(text) ? new URL(text) : undefined
      const isOrigin = url?.pathname === '/' && url.search === '' && url.username === ''
      if (isOrigin && /^https?:$/.test(url.protocol)) return url
      throw new Error('must be http:// or https:// with a host, and no path')
    },
  }
}

/** A key of the other environment is refused before anything is charged with it. */
function keySetting(
  variable: string,
  description: string,
  prefixes: readonly string[],
): Setting<string> {
  return secretSetting(variable, description, (text) => {
    if (text === '' || prefixes.some((prefix) => text.startsWith(prefix))) return text
    throw new Error(`must begin with ${prefixes.join(' or ')}`)
  })
}

function secretsSetting(variable: string, description: string): Setting<readonly string[]> {
  return secretSetting(variable, description, (text) => {
    const secrets = text.split(',').filter((secret) => secret !== '')
    if (secrets.every((secret) => secret.startsWith('whsec_'))) return secrets
    throw new Error('each must begin with whsec_')
  })
}
