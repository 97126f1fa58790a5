import {
  choiceSetting,
  integerSetting,
  secretSetting,
  textSetting,
  type Setting,
  type SettingValues,
} from '@tollgate/platform/config/settings'

function listSetting(variable: string, description: string, defaultText: string) {
  const parse = (text: string): readonly string[] =>
    text
      .split(',')
      .map((each) => each.trim().toLowerCase())
      .filter((each) => each !== '')
  return { variable, description, defaultText, parse } satisfies Setting<readonly string[]>
}

const days = { min: 1, max: 3_650 }
const attempts = { min: 1, max: 1_000_000 }

/** Settings of the authorization servers where customers of MCP servers sign in. */
export const customerAuthSettings = {
  accessTokenMinutes: integerSetting(
    'TOLLGATE_CUSTOMER_AUTH_ACCESS_MINUTES',
    'Validity of an access token of a customer, in minutes',
    15,
    { min: 1, max: 1_440 },
  ),
  refreshTokenDays: integerSetting(
    'TOLLGATE_CUSTOMER_AUTH_REFRESH_DAYS',
    'Validity of an unused refresh token, in days. After that the customer must sign in again',
    30,
    days,
  ),
  grantDays: integerSetting(
    'TOLLGATE_CUSTOMER_AUTH_GRANT_DAYS',
    'Days after which a customer must allow a client again, however often the client refreshes its tokens',
    365,
    days,
  ),
  signingKeyDays: integerSetting(
    'TOLLGATE_CUSTOMER_AUTH_KEY_DAYS',
    'Days after which the key that signs access tokens is replaced. The old key stays valid until its last token has expired',
    90,
    days,
  ),
  unusedClientDays: integerSetting(
    'TOLLGATE_CUSTOMER_AUTH_CLIENT_DAYS',
    'Days after which a registered client that gets no tokens is deleted',
    90,
    days,
  ),
  redirectHosts: listSetting(
    'TOLLGATE_CUSTOMER_AUTH_REDIRECT_HOSTS',
    'Hosts to which clients may be redirected over https, each including its subdomains. Loopback addresses are always allowed',
    'claude.ai,claude.com,chatgpt.com,vscode.dev,cursor.com',
  ),
  redirectSchemes: listSetting(
    'TOLLGATE_CUSTOMER_AUTH_REDIRECT_SCHEMES',
    'URL schemes of applications to which clients may be redirected',
    'cursor,claude,vscode,vscode-insiders,cline,windsurf,zed,codex,chatgpt,jetbrains,com.googleusercontent.apps',
  ),
  anyHttpsRedirect: choiceSetting(
    'TOLLGATE_CUSTOMER_AUTH_ANY_HTTPS_REDIRECT',
    'Whether clients may be redirected to any host over https, instead of only to TOLLGATE_CUSTOMER_AUTH_REDIRECT_HOSTS',
    ['off', 'on'],
    'off',
  ),
  customerSignedInHours: integerSetting(
    'TOLLGATE_CUSTOMER_AUTH_SIGNED_IN_HOURS',
    'How long a browser stays signed in to allow clients and open links, in hours',
    12,
    { min: 1, max: 720 },
  ),
  codeAttemptsMax: integerSetting(
    'TOLLGATE_CUSTOMER_AUTH_CODE_ATTEMPTS_MAX',
    'Maximum number of wrong entries of a code that was sent by email',
    5,
    { min: 1, max: 20 },
  ),
  codeWindowMinutes: integerSetting(
    'TOLLGATE_CUSTOMER_AUTH_WINDOW_MINUTES',
    'Length of the window in which codes and registrations are counted, in minutes. After a limit is reached, requests are refused until the window ends',
    15,
    { min: 1, max: 1_440 },
  ),
  codesPerEmailMax: integerSetting(
    'TOLLGATE_CUSTOMER_AUTH_CODES_PER_EMAIL_MAX',
    'Maximum number of 6-digit codes sent to one email address per window, and 6 times as many per day. Above that, one 16-digit code is sent per hour',
    5,
    attempts,
  ),
  codesPerAddressMax: integerSetting(
    'TOLLGATE_CUSTOMER_AUTH_CODES_PER_ADDRESS_MAX',
    'Maximum number of codes that one network address may request, and of sign-ins at Google and GitHub that it may start, together per window. An IPv6 /64 network counts as one address',
    50,
    attempts,
  ),
  guessesPerAddressMax: integerSetting(
    'TOLLGATE_CUSTOMER_AUTH_GUESSES_PER_ADDRESS_MAX',
    'Maximum number of codes that one network address may enter per window',
    100,
    attempts,
  ),
  registrationsPerAddressMax: integerSetting(
    'TOLLGATE_CUSTOMER_AUTH_REGISTRATIONS_PER_ADDRESS_MAX',
    'Maximum number of clients that one network address may register per window',
    100,
    attempts,
  ),
  customerSignInsPerAddressMax: integerSetting(
    'TOLLGATE_CUSTOMER_AUTH_SIGN_INS_PER_ADDRESS_MAX',
    'Maximum number of sign-ins that clients may start from one network address per window, at the authorization endpoint',
    300,
    attempts,
  ),
  customerLinkMinutes: integerSetting(
    'TOLLGATE_CUSTOMER_AUTH_LINK_MINUTES',
    'Validity of a link that leads to a checkout or the portal after a sign-in, in minutes',
    60,
    { min: 1, max: 10_080 },
  ),
  customerAuthIntervalMs: integerSetting(
    'TOLLGATE_CUSTOMER_AUTH_INTERVAL_MS',
    'How often expired tokens, codes and sign-ins are deleted, in milliseconds',
    60_000,
    { min: 1, max: 3_600_000 },
  ),
  smtpUrl: secretSetting(
    'TOLLGATE_SMTP_URL',
    'Mail server that sends codes of the sign-in and emails to customers, such as `smtps://user:password@mail.example.com`. If empty, no mail is sent',
    (text) => {
      if (text === '' || /^smtps?:\/\/./.test(text)) return text
      throw new Error('must begin with smtp:// or smtps://')
    },
  ),
  smtpFrom: textSetting(
    'TOLLGATE_SMTP_FROM',
    'Sender of mail to customers. With an address on `localhost`, only codes of the sign-in are sent',
    'Tollgate <no-reply@localhost>',
  ),
  inbox: choiceSetting(
    'TOLLGATE_CUSTOMER_AUTH_INBOX',
    'Access to the mail at `/inbox` while no mail server is set: `local` allows browsers on this machine if the hosted pages have a loopback address. `on` allows everyone who can reach the page. `off` allows nobody, so no code can be sent',
    ['local', 'on', 'off'],
    'local',
  ),
}

export type CustomerAuthConfig = SettingValues<typeof customerAuthSettings>
