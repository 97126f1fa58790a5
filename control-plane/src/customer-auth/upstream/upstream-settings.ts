import { parseUrl } from '@tollgate/schemas/parse-url'
import {
  integerSetting,
  secretSetting,
  SettingsError,
  textSetting,
  type Setting,
  type SettingValues,
} from '@tollgate/platform/config/settings'
import { isLoopback } from '../redirect-policy.ts'

/** Settings for customers who sign in with an account at Google or GitHub. */
export const upstreamSettings = {
  googleClientId: textSetting(
    'TOLLGATE_GOOGLE_CLIENT_ID',
    'Client id of this installation at Google, for customers who sign in with Google. If empty, the sign-in page does not offer it. Register `{hosted URL}/customer/sign-in/google/callback` there',
    '',
  ),
  googleClientSecret: secretSetting(
    'TOLLGATE_GOOGLE_CLIENT_SECRET',
    'Client secret of the client id at Google',
    (text) => text,
  ),
  googleIssuer: addressSetting(
    'TOLLGATE_GOOGLE_ISSUER',
    'OpenID Connect issuer to which customers who choose Google are redirected',
    'https://accounts.google.com',
  ),
  githubClientId: textSetting(
    'TOLLGATE_GITHUB_CLIENT_ID',
    'Client id of the OAuth app of this installation at GitHub, for customers who sign in with GitHub. If empty, the sign-in page does not offer it. Register `{hosted URL}/customer/sign-in/github/callback` there',
    '',
  ),
  githubClientSecret: secretSetting(
    'TOLLGATE_GITHUB_CLIENT_SECRET',
    'Client secret of the client id at GitHub',
    (text) => text,
  ),
  githubUrl: addressSetting(
    'TOLLGATE_GITHUB_URL',
    'Address of GitHub, or of GitHub Enterprise Server or a subdomain of ghe.com if customers have their accounts there',
    'https://github.com',
  ),
  upstreamTimeoutMs: integerSetting(
    'TOLLGATE_CUSTOMER_AUTH_UPSTREAM_TIMEOUT_MS',
    'Maximum duration of one request to Google or GitHub, in milliseconds. A sign-in sends up to 3 requests one after another',
    5_000,
    { min: 100, max: 60_000 },
  ),
}

export type UpstreamConfig = SettingValues<typeof upstreamSettings>

/** Throws a SettingsError if a client id is set without its secret, or a secret without its client id. */
export function requireCompleteUpstreams(config: UpstreamConfig): void {
  const pairs = [
    ['GOOGLE', config.googleClientId, config.googleClientSecret],
    ['GITHUB', config.githubClientId, config.githubClientSecret],
  ] as const
  const problems = pairs.flatMap(([name, id, secret]) => {
    if ((id === '') === (secret === '')) return []
    const [given, missing] = id === '' ? ['SECRET', 'ID'] : ['ID', 'SECRET']
    const variable = `TOLLGATE_${name}_CLIENT_`
    return [`${variable}${given} is set without ${variable}${missing}: set both, or neither`]
  })
  if (problems.length > 0) throw new SettingsError(problems.join('\n'))
}

function isLoopbackHttp(url: URL): boolean {
  return url.protocol === 'http:' && isLoopback(url)
}

/** Setting for an `https` address without a trailing slash, or an `http` address of this machine. */
function addressSetting(
  variable: string,
  description: string,
  defaultText: string,
): Setting<string> {
  const parse = (text: string): string => {
    const url = parseUrl(text)
    if (url === undefined || !(url.protocol === 'https:' || isLoopbackHttp(url))) {
      throw new Error('must be an address that begins with https://')
    }
    if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') {
      throw new Error('must have no query, fragment or credentials')
    }
    return text.replace(/\/$/, '')
  }
  return { variable, description, defaultText, parse }
}
