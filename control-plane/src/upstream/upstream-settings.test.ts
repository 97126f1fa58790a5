import { expect, test } from 'vitest'
import { SettingsError } from '@tollgate/platform/config/settings'
import { readControlPlaneConfig } from '../config.ts'

const required = {
  TOLLGATE_CLICKHOUSE_URL: 'http://127.0.0.1',
  TOLLGATE_DATABASE_URL: 'postgres://127.0.0.1/tollgate',
}

const openid = {
  TOLLGATE_CONSOLE_OPENID_CLIENT_ID: 'id',
  TOLLGATE_CONSOLE_OPENID_CLIENT_SECRET: 'hush',
}

test.each([
  [{ TOLLGATE_GOOGLE_CLIENT_ID: 'id' }, 'TOLLGATE_GOOGLE_CLIENT_SECRET: set both, or neither'],
  [{ TOLLGATE_GITHUB_CLIENT_SECRET: 'hush' }, 'TOLLGATE_GITHUB_CLIENT_ID: set both, or neither'],
  [{ TOLLGATE_GITHUB_URL: 'http://github.example' }, 'must be an address that begins with https'],
  [
    { TOLLGATE_CONSOLE_OPENID_ISSUER: 'https://acme.okta.com' },
    'TOLLGATE_CONSOLE_OPENID_CLIENT_ID: set both, or neither',
  ],
  [
    { TOLLGATE_CONSOLE_OPENID_ISSUER: 'https://accounts.google.com/', ...openid },
    'Set TOLLGATE_CONSOLE_OPENID_DOMAIN too',
  ],
  [
    {
      TOLLGATE_CONSOLE_OPENID_ISSUER: 'https://login.microsoftonline.com/organizations/v2.0',
      ...openid,
    },
    'name your own tenant',
  ],
  [{ TOLLGATE_CONSOLE_OPENID_DOMAIN: '@acme.com' }, 'must be a domain name'],
  [{ TOLLGATE_GOOGLE_ISSUER: 'https://accounts.example/?x=1' }, 'must have no query'],
])('refuses the settings %j with the reason', (settings, reason) => {
  const read = () => readControlPlaneConfig({ ...required, ...settings })
  expect(read).toThrow(SettingsError)
  expect(read).toThrow(reason)
  expect(read).not.toThrow('hush')
})

test('needs no setting, and accepts an address of this machine without TLS', () => {
  const settings = { ...required, TOLLGATE_GITHUB_URL: 'http://[::1]:3000/' }
  const { googleClientId, githubUrl } = readControlPlaneConfig(settings)
  expect([googleClientId, githubUrl]).toEqual(['', 'http://[::1]:3000'])
})
