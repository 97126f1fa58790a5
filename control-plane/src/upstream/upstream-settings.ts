import {
  choiceSetting,
  integerSetting,
  secretSetting,
  SettingsError,
  textSetting,
  type SettingValues,
} from '@tollgate/platform/config/settings'
import { isOfGoogle } from './openid.ts'
import { addressSetting, domainSetting, issuerSetting } from './address-setting.ts'

/** Settings for customers who sign in with Google or GitHub, and for users of the console who sign in with OpenID Connect. */
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
    'Maximum duration of one request to Google, GitHub or the issuer of the console, in milliseconds. A sign-in sends up to 4 requests one after another',
    5_000,
    { min: 100, max: 60_000 },
  ),
  consoleOpenidIssuer: issuerSetting(
    'TOLLGATE_CONSOLE_OPENID_ISSUER',
    'OpenID Connect issuer at which users of the console sign in, such as that of your company. If empty, they sign in with a password. Register `{hosted URL}/console/sign-in/openid/callback` there',
  ),
  consoleOpenidClientId: textSetting(
    'TOLLGATE_CONSOLE_OPENID_CLIENT_ID',
    'Client id of this installation at the issuer of the console',
    '',
  ),
  consoleOpenidClientSecret: secretSetting(
    'TOLLGATE_CONSOLE_OPENID_CLIENT_SECRET',
    'Client secret of the client id at the issuer of the console',
    (text) => text,
  ),
  consoleOpenidName: textSetting(
    'TOLLGATE_CONSOLE_OPENID_NAME',
    'Name of the issuer on the sign-in page of the console',
    'single sign-on',
  ),
  consoleOpenidDomain: domainSetting(
    'TOLLGATE_CONSOLE_OPENID_DOMAIN',
    'Domain of the accounts that may sign in to the console, such as acme.com. Required at issuers that also have accounts of others, such as Google',
  ),
  consoleOpenidEmails: choiceSetting(
    'TOLLGATE_CONSOLE_OPENID_EMAILS',
    'Email addresses of accounts that sign in a user of the console: `verified` accepts those that the issuer has verified, `all` also those of which it does not say whether it has, as Microsoft Entra ID',
    ['verified', 'all'],
    'verified',
  ),
}

export type UpstreamConfig = SettingValues<typeof upstreamSettings>

/** Throws a SettingsError if a client id is set without its secret or its issuer, or one of these without the client id. */
export function requireCompleteUpstreams(config: UpstreamConfig): void {
  const pairs = [
    ['GOOGLE', config.googleClientId, config.googleClientSecret],
    ['GITHUB', config.githubClientId, config.githubClientSecret],
    ['CONSOLE_OPENID', config.consoleOpenidClientId, config.consoleOpenidClientSecret],
  ] as const
  const problems = pairs.flatMap(([name, id, secret]) => {
    if ((id === '') === (secret === '')) return []
    const [given, missing] = id === '' ? ['SECRET', 'ID'] : ['ID', 'SECRET']
    const variable = `TOLLGATE_${name}_CLIENT_`
    return [`${variable}${given} is set without ${variable}${missing}: set both, or neither`]
  })
  if ((config.consoleOpenidIssuer === '') !== (config.consoleOpenidClientId === '')) {
    problems.push(
      'TOLLGATE_CONSOLE_OPENID_ISSUER and TOLLGATE_CONSOLE_OPENID_CLIENT_ID: set both, or neither',
    )
  }
  if (isOfGoogle(config.consoleOpenidIssuer) && config.consoleOpenidDomain === '') {
    problems.push(
      `TOLLGATE_CONSOLE_OPENID_ISSUER=${config.consoleOpenidIssuer}: this issuer also has accounts of others. Set TOLLGATE_CONSOLE_OPENID_DOMAIN too`,
    )
  }
  if (isOfAnyTenant(config.consoleOpenidIssuer)) {
    problems.push(
      'TOLLGATE_CONSOLE_OPENID_ISSUER: name your own tenant in place of common, organizations or consumers',
    )
  }
  if (problems.length > 0) throw new SettingsError(problems.join('\n'))
}

/** Returns whether any tenant of Microsoft Entra ID can sign accounts in, with addresses that its own administrators choose. */
function isOfAnyTenant(issuer: string): boolean {
  return /^https:\/\/login\.microsoftonline\.com\/(?:common|organizations|consumers)(?:\/|$)/i.test(
    issuer,
  )
}
