import { expect, test } from 'vitest'
import { isAllowedLink } from './http/link-hosts.ts'
import { parseUrl } from './parse-url.ts'

test('parses URLs, and returns undefined for other text', () => {
  expect(parseUrl('https://bücher.example/?é')?.href).toBe('https://xn--bcher-kva.example/?%C3%A9')
  for (const text of ['', 'shop.example', 'https://', 'http://a b/']) {
    expect(parseUrl(text)).toBeUndefined()
  }
})

test('answers the same however often it is asked', () => {
  const answers = new Set<boolean>()
  for (let call = 0; call < 100_000; call += 1) {
    answers.add(isAllowedLink(['xn--bcher-kva.example'], 'https://bücher.example/'))
  }
  expect(answers).toEqual(new Set([true]))
})
