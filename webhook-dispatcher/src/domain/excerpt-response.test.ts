import { expect, test } from 'vitest'
import { excerptResponse } from './excerpt-response.ts'

const excerpt = (text: string, contentEncoding?: string): string =>
  excerptResponse(Buffer.from(text), contentEncoding)

test('keeps the first 4 KiB of a response as text that PostgreSQL accepts', () => {
  expect(excerpt('{"received":true}')).toBe('{"received":true}')
  expect(excerpt('')).toBe('')
  expect(excerpt('x'.repeat(16_384))).toBe('x'.repeat(4_096))
  expect(excerpt('a\0b')).toBe('a\uFFFDb')
  expect(excerptResponse(Buffer.from([0xff, 0x41]), undefined)).toBe('\uFFFDA')
})

const secret = `whsec_${'0a'.repeat(32)}`

test.each([
  [`secret is ${secret}.`, 'secret is whsec_(removed).'],
  [`{"a":"${secret}","b":"${secret}"}`, '{"a":"whsec_(removed)","b":"whsec_(removed)"}'],
  [`Bearer sk_live_${'aZ9'.repeat(16)}`, 'Bearer sk_live_(removed)'],
  [
    `sk_sandbox_${'aZ9'.repeat(16)} sp_sandbox_abcdefgh`,
    'sk_sandbox_(removed) sp_sandbox_(removed)',
  ],
  ['rk_test_12345678', 'rk_test_(removed)'],
])('removes the secret from %s', (answered, shown) => {
  expect(excerpt(answered)).toBe(shown)
})

test('keeps no part of a secret at the cut', () => {
  for (let before = 4_020; before < 4_100; before += 1) {
    expect(excerpt(' '.repeat(before) + secret)).not.toMatch(/0a0a/)
  }
})

test('keeps words that only begin like a secret', () => {
  expect(excerpt('no whsec_ given, task_live_2 failed')).toBe('no whsec_ given, task_live_2 failed')
})

test('replaces a compressed response by a note', () => {
  expect(excerpt('\u001f\u008b', 'gzip')).toBe('(packed with gzip, which was not asked for)')
  expect(excerpt('plain', 'Identity')).toBe('plain')
})
