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
    'Minutes that an access token of a customer is valid',
    15,
    { min: 1, max: 1_440 },
  ),
  refreshTokenDays: integerSetting(
    'TOLLGATE_CUSTOMER_AUTH_REFRESH_DAYS',
    'Days that a client may leave a refresh token unused before its customer has to sign in again',
    30,
    days,
  ),
  grantDays: integerSetting(
    'TOLLGATE_CUSTOMER_AUTH_GRANT_DAYS',
    'Days after which a customer has to allow a client again, however often the client refreshes its tokens',
    365,
    days,
  ),
  signingKeyDays: integerSetting(
    'TOLLGATE_CUSTOMER_AUTH_KEY_DAYS',
    'Days after which the key that signs access tokens is replaced; the older one is known until its last token has expired',
    90,
    days,
  ),
  unusedClientDays: integerSetting(
    'TOLLGATE_CUSTOMER_AUTH_CLIENT_DAYS',
    'Days after which a registered client that gets no tokens is forgotten',
    90,
    days,
  ),
  redirectHosts: listSetting(
    'TOLLGATE_CUSTOMER_AUTH_REDIRECT_HOSTS',
    'Hosts that clients may be redirected to over https, each with the hosts below it; loopback addresses are always allowed',
    'claude.ai,claude.com,chatgpt.com,vscode.dev,cursor.com',
  ),
  redirectSchemes: listSetting(
    'TOLLGATE_CUSTOMER_AUTH_REDIRECT_SCHEMES',
    'URL schemes of applications that clients may be redirected to',
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
    'Hours that a browser stays signed in for allowing clients and opening links',
    12,
    { min: 1, max: 720 },
  ),
  codeAttemptsMax: integerSetting(
    'TOLLGATE_CUSTOMER_AUTH_CODE_ATTEMPTS_MAX',
    'How often a code that was sent by email can be entered wrong',
    5,
    { min: 1, max: 20 },
  ),
  codeWindowMinutes: integerSetting(
    'TOLLGATE_CUSTOMER_AUTH_WINDOW_MINUTES',
    'Length of the window in which codes and registrations are counted, in minutes; who reaches a limit waits until the window ends',
    15,
    { min: 1, max: 1_440 },
  ),
  codesPerEmailMax: integerSetting(
    'TOLLGATE_CUSTOMER_AUTH_CODES_PER_EMAIL_MAX',
    'Codes of 6 digits that are sent to one email address in that time; in a day, six times as many. Beyond that, one code of 16 digits is sent in an hour',
    5,
    attempts,
  ),
  codesPerAddressMax: integerSetting(
    'TOLLGATE_CUSTOMER_AUTH_CODES_PER_ADDRESS_MAX',
    'Codes that one network address may request in that time, together with sign-ins at Google and GitHub that it may start; of IPv6 a /64 is one',
    50,
    attempts,
  ),
  guessesPerAddressMax: integerSetting(
    'TOLLGATE_CUSTOMER_AUTH_GUESSES_PER_ADDRESS_MAX',
    'Codes that one network address may enter in that time',
    100,
    attempts,
  ),
  registrationsPerAddressMax: integerSetting(
    'TOLLGATE_CUSTOMER_AUTH_REGISTRATIONS_PER_ADDRESS_MAX',
    'Clients that one network address may register in that time',
    100,
    attempts,
  ),
  customerSignInsPerAddressMax: integerSetting(
    'TOLLGATE_CUSTOMER_AUTH_SIGN_INS_PER_ADDRESS_MAX',
    'Sign-ins that clients may begin from one network address in that time, at the authorization endpoint',
    300,
    attempts,
  ),
  customerLinkMinutes: integerSetting(
    'TOLLGATE_CUSTOMER_AUTH_LINK_MINUTES',
    'Minutes that a link to a checkout or the portal can be followed after the sign-in it asks for',
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
    'The mail server that codes are sent through, such as `smtps://user:password@mail.example.com`; empty: no mail is sent',
    (text) => {
      if (text === '' || /^smtps?:\/\/./.test(text)) return text
      throw new Error('must begin with smtp:// or smtps://')
    },
  ),
  smtpFrom: textSetting(
    'TOLLGATE_SMTP_FROM',
    'The sender of mail to customers',
    'Tollgate <no-reply@localhost>',
  ),
  inbox: choiceSetting(
    'TOLLGATE_CUSTOMER_AUTH_INBOX',
    'This setting decides who may read mail at `/inbox` while no mail server is set. `local` allows browsers on this machine if the hosted pages have a loopback address. `on` allows everyone who can reach the page. `off` allows nobody, so no code can be sent',
    ['local', 'on', 'off'],
    'local',
  ),
}

export type CustomerAuthConfig = SettingValues<typeof customerAuthSettings>
