import { integerSetting } from '@tollgate/platform/config/settings'

export const consoleSettings = {
  signedInHours: integerSetting(
    'TOLLGATE_CONSOLE_SIGNED_IN_HOURS',
    'Hours after which people sign in to the console again; using it prolongs nothing',
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
    'Days that a browser is known after somebody signed in: wrong passwords that are tried elsewhere do not refuse it',
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
    'Minutes in which wrong passwords are counted; who tried too many waits for their end',
    15,
    { min: 1, max: 1_440 },
  ),
  signInsPerEmailMax: integerSetting(
    'TOLLGATE_CONSOLE_SIGN_INS_PER_EMAIL_MAX',
    'Wrong passwords for one email address in that time',
    10,
    { min: 1, max: 10_000 },
  ),
  signInsPerAddressMax: integerSetting(
    'TOLLGATE_CONSOLE_SIGN_INS_PER_ADDRESS_MAX',
    'Wrong passwords from one network address in that time; of IPv6 a /64 is one',
    100,
    { min: 1, max: 1_000_000 },
  ),
}
