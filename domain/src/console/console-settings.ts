import { integerSetting } from '@tollgate/platform/config/settings'

export const consoleSettings = {
  signedInHours: integerSetting(
    'TOLLGATE_CONSOLE_SIGNED_IN_HOURS',
    'Hours after which console users must sign in again; use of the console does not extend this',
    12,
    { min: 1, max: 720 },
  ),
  passwordLinkHours: integerSetting(
    'TOLLGATE_CONSOLE_PASSWORD_LINK_HOURS',
    'Hours for which a one-time link to set a password is valid',
    72,
    { min: 1, max: 720 },
  ),
  knownBrowserDays: integerSetting(
    'TOLLGATE_CONSOLE_KNOWN_BROWSER_DAYS',
    'Days that a browser stays known after a console user signed in with it; wrong passwords that are entered in other browsers do not lock out a known browser',
    180,
    { min: 1, max: 3_650 },
  ),
  passwordCost: integerSetting(
    'TOLLGATE_CONSOLE_PASSWORD_COST',
    "log2 of scrypt's N for passwords set from now on: one more doubles time and memory, 15 takes 32 MiB",
    15,
    { min: 10, max: 20 },
  ),
  signInWindowMinutes: integerSetting(
    'TOLLGATE_CONSOLE_SIGN_IN_WINDOW_MINUTES',
    'Length of the window in which wrong passwords are counted, in minutes; after too many, sign-in is refused until the window ends',
    15,
    { min: 1, max: 1_440 },
  ),
  signInsPerEmailMax: integerSetting(
    'TOLLGATE_CONSOLE_SIGN_INS_PER_EMAIL_MAX',
    'Maximum wrong passwords for one email address within TOLLGATE_CONSOLE_SIGN_IN_WINDOW_MINUTES',
    10,
    { min: 1, max: 10_000 },
  ),
  signInsPerAddressMax: integerSetting(
    'TOLLGATE_CONSOLE_SIGN_INS_PER_ADDRESS_MAX',
    'Maximum wrong passwords from one network address within TOLLGATE_CONSOLE_SIGN_IN_WINDOW_MINUTES; an IPv6 /64 network counts as one address',
    100,
    { min: 1, max: 1_000_000 },
  ),
}
