import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readSettings, SettingsError } from '../config/settings.ts'
import { readOrMakeKeyFile, secretKeyFile } from './key-file.ts'
import { openSecrets, secretSettings } from './open-secrets.ts'
import { SecretBox, type SecretPlace } from './secret-box.ts'
import { SecretKeysMissingError, SecretUnreadableError } from './secret-errors.ts'
import type { SecretKey } from './secret-keys.ts'

const keyOf = (id: string): SecretKey => ({ id, bytes: randomBytes(32) })
const place: SecretPlace = { table: 'mcp_servers', column: 'auth_key', owner: 'prv_1' }

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-secrets-'))
})

afterEach(() => rm(folder, { recursive: true, force: true }))

test('a sealed secret opens again and reveals nothing of its text', () => {
  const box = new SecretBox([keyOf('a')])
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 8 }), (secret) => {
      const sealed = box.seal(secret, place)
      expect(box.open(sealed, place)).toBe(secret)
      expect(sealed).not.toContain(secret)
      expect(sealed).toMatch(/^v1\.a\.[\w-]+$/)
      expect(box.seal(secret, place)).not.toBe(sealed)
    }),
  )
})

test('a sealed secret does not open if it was altered or moved', () => {
  const box = new SecretBox([keyOf('a'), keyOf('b')])
  const sealed = box.seal('s3cret', place)
  const body = Buffer.from(sealed.slice(5), 'base64url')
  for (let at = 0; at < body.length; at += 1) {
    const altered = Buffer.from(body)
    altered[at]! ^= 1
    const text = `v1.a.${altered.toString('base64url')}`
    expect(() => box.open(text, place)).toThrow(SecretUnreadableError)
  }
  for (let length = 0; length < body.length; length += 1) {
    const text = `v1.a.${body.subarray(0, length).toString('base64url')}`
    expect(() => box.open(text, place)).toThrow(SecretUnreadableError)
  }
  for (const text of [
    '',
    'v1',
    'v2.a.AAAA',
    sealed.replace('.a.', '.b.'),
    `${sealed}.x`,
    's3cret',
  ]) {
    expect(() => box.open(text, place)).toThrow(SecretUnreadableError)
  }
  const elsewhere: Partial<SecretPlace>[] = [
    { table: 'cli_session_outcomes' },
    { column: 'sealed_key' },
    { owner: 'prv_2' },
  ]
  for (const other of elsewhere) {
    expect(() => box.open(sealed, { ...place, ...other })).toThrow(SecretUnreadableError)
  }
})

test('an older key opens its secrets until they are sealed again with the newest', () => {
  const [old, young] = [keyOf('old'), keyOf('young')]
  const sealed = new SecretBox([old]).seal('s3cret', place)
  const box = new SecretBox([young, old])
  expect(box.isCurrent(sealed)).toBe(false)
  const resealed = box.reseal(sealed, place)
  expect(box.isCurrent(resealed)).toBe(true)
  expect(new SecretBox([young]).open(resealed, place)).toBe('s3cret')
  expect(() => new SecretBox([young]).open(sealed, place)).toThrow('there is no key old')
})

test('a key file is created once, readable by its owner only, by any number of processes', async () => {
  const path = secretKeyFile(join(folder, 'data'))
  const all = await Promise.all(Array.from({ length: 8 }, () => readOrMakeKeyFile(path)))
  expect(new Set(all.map(([{ bytes }]) => bytes.toString('hex'))).size).toBe(1)
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect(await readdir(join(folder, 'data'))).toEqual(['secret-keys'])
})

test('an empty key file is not replaced', async () => {
  const path = secretKeyFile(folder)
  await writeFile(path, '\n')
  await expect(readOrMakeKeyFile(path)).rejects.toThrow('is empty')
  expect(await readFile(path, 'utf8')).toBe('\n')
})

test('keys are read from the configuration, then from the data folder', async () => {
  const warnings: string[] = []
  const logger = { warn: (text: unknown) => warnings.push(String(text)) }
  const key = keyOf('given')
  const { secretKeys } = readSettings(secretSettings, {
    TOLLGATE_SECRET_KEYS: `given:${key.bytes.toString('base64')}`,
  })
  const given = await openSecrets({ secretKeys, dataDir: folder }, logger)
  const sealed = given.seal('s3cret', place)
  expect(new SecretBox([key]).open(sealed, place)).toBe('s3cret')
  expect(await readdir(folder)).toEqual([])

  const first = await openSecrets({ secretKeys: undefined, dataDir: folder }, logger)
  const second = await openSecrets({ secretKeys: undefined, dataDir: folder }, logger)
  expect(second.open(first.seal('s3cret', place), place)).toBe('s3cret')
  expect(warnings).toEqual([])

  const none = await openSecrets({ secretKeys: undefined, dataDir: '' }, logger)
  expect(() => none.seal('s3cret', place)).toThrow(SecretKeysMissingError)
  expect(() => none.open(sealed, place)).toThrow(SecretKeysMissingError)
  expect(warnings).toHaveLength(1)
})

test.each([
  'c2VjcmV0',
  'a:c2VjcmV0',
  `a:${'A'.repeat(43)}=,a:${'B'.repeat(43)}=`,
  `a b:${'A'.repeat(43)}=`,
])('the error for invalid keys does not repeat them: %s', (text) => {
  const read = () => readSettings(secretSettings, { TOLLGATE_SECRET_KEYS: text })
  expect(read).toThrow(SettingsError)
  expect(read).toThrow(/^TOLLGATE_SECRET_KEYS: expected id:base64/)
  expect(read).not.toThrow(text)
})
