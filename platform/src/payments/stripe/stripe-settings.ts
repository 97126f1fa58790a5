import { parseUrl } from '@tollgate/schemas/parse-url'
import type { Environment } from '@tollgate/schemas/environment'
import { integerSetting, secretSetting, type Setting } from '../../config/settings.ts'
import type { SettingValues } from '../../config/settings.ts'

/** Settings for the access to Stripe. The environments never share a key. */
export const stripeSettings = {
  stripeSandboxUrl: urlSetting('TOLLGATE_STRIPE_SANDBOX_URL', 'Base URL of Stripe for sandbox'),
  stripeLiveUrl: urlSetting('TOLLGATE_STRIPE_LIVE_URL', 'Base URL of Stripe for live'),
  stripeSandboxSecretKey: keySetting(
    'TOLLGATE_STRIPE_SANDBOX_SECRET_KEY',
    'Secret or restricted test key of Stripe; if empty, sandbox accepts no payments',
    ['sk_test_', 'rk_test_'],
  ),
  stripeLiveSecretKey: keySetting(
    'TOLLGATE_STRIPE_LIVE_SECRET_KEY',
    'Secret or restricted live key of Stripe; if empty, live accepts no payments',
    ['sk_live_', 'rk_live_'],
  ),
  stripeSandboxPublishableKey: keySetting(
    'TOLLGATE_STRIPE_SANDBOX_PUBLISHABLE_KEY',
    'Publishable key of Stripe, sent to browsers for sandbox payments',
    ['pk_test_'],
  ),
  stripeLivePublishableKey: keySetting(
    'TOLLGATE_STRIPE_LIVE_PUBLISHABLE_KEY',
    'Publishable key of Stripe, sent to browsers for live payments',
    ['pk_live_'],
  ),
  stripeSandboxWebhookSecrets: secretsSetting(
    'TOLLGATE_STRIPE_SANDBOX_WEBHOOK_SECRETS',
    "Signing secret of Stripe's sandbox webhooks; during a rotation both secrets, separated by a comma",
  ),
  stripeLiveWebhookSecrets: secretsSetting(
    'TOLLGATE_STRIPE_LIVE_WEBHOOK_SECRETS',
    "Signing secret of Stripe's live webhooks; during a rotation both secrets, separated by a comma",
  ),
  stripeTimeoutMs: integerSetting(
    'TOLLGATE_STRIPE_TIMEOUT_MS',
    'Timeout of a request to Stripe, in milliseconds; after that, its outcome counts as unknown',
    15_000,
    { min: 100, max: 20_000 },
  ),
}

/** Access to Stripe for one environment. */
export type StripeAccess = {
  readonly url: URL
  readonly secretKey: string
  readonly webhookSecrets: readonly string[]
  readonly isLive: boolean
  readonly timeoutMs: number
}

/** Returns undefined if the environment has no secret key: it then accepts no payments. */
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
    description: `${description}. Use another URL only for a simulator`,
    defaultText: 'https://api.stripe.com',
    parse: (text) => {
      const url = parseUrl(text)
      const isOrigin = url?.pathname === '/' && url.search === '' && url.username === ''
      if (isOrigin && /^https?:$/.test(url.protocol)) return url
      throw new Error('must be http:// or https:// with a host, and no path')
    },
  }
}

/** A setting for an API key. The prefix is checked, so that a key of the other environment is never used. */
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
