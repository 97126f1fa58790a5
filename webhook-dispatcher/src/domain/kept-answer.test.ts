import { expect, test } from 'vitest'
import { keptAnswer } from './kept-answer.ts'

const kept = (text: string, contentEncoding?: string): string =>
  keptAnswer(Buffer.from(text), contentEncoding)

test('what a receiver answered is kept up to 4 KiB, as text that PostgreSQL takes', () => {
  expect(kept('{"received":true}')).toBe('{"received":true}')
  expect(kept('')).toBe('')
  expect(kept('x'.repeat(16_384))).toBe('x'.repeat(4_096))
  expect(kept('a\0b')).toBe('a\uFFFDb')
  expect(keptAnswer(Buffer.from([0xff, 0x41]), undefined)).toBe('\uFFFDA')
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
])('a secret in it is not: %s', (answered, shown) => {
  expect(kept(answered)).toBe(shown)
})

test('a secret that the cut would go through is not kept in part', () => {
  for (let before = 4_020; before < 4_100; before += 1) {
    expect(kept(' '.repeat(before) + secret)).not.toMatch(/0a0a/)
  }
})

test('words that begin like a secret stay', () => {
  expect(kept('no whsec_ given, task_live_2 failed')).toBe('no whsec_ given, task_live_2 failed')
})

test('what is packed is said to be', () => {
  expect(kept('\u001f\u008b', 'gzip')).toBe('(packed with gzip, which was not asked for)')
  expect(kept('plain', 'Identity')).toBe('plain')
})
