import { expect, test } from 'vitest'
import { movePoint } from './decimals.ts'

test('the point moves to the right and to the left, and every digit is kept', () => {
  const moved: readonly (readonly [string, number, string])[] = [
    ['49', 2, '4900'],
    ['49.9', 2, '4990'],
    ['0.000003', 2, '0.0003'],
    ['0.0003', -2, '0.000003'],
    ['4900', -2, '49'],
    ['5', -2, '0.05'],
    ['0', -2, '0'],
    ['12345678.123456789012', 2, '1234567812.3456789012'],
    ['.5', 0, '0.5'],
    ['1.', 1, '10'],
    ['-1.25', 1, '-12.5'],
    ['007', 0, '7'],
  ]
  for (const [text, places, expected] of moved) {
    expect(movePoint(text, places), `${text} by ${places}`).toBe(expected)
  }
})

test('moving there and back changes nothing', () => {
  for (let cents = 0; cents < 2_000; cents += 7) {
    const text = String(cents)
    expect(movePoint(movePoint(text, -2), 2)).toBe(text)
  }
})

test('a text that is no number stays, so that it is refused where it is read', () => {
  for (const text of ['', 'abc', '1e3', '1,5', '.', '--1']) expect(movePoint(text, 2)).toBe(text)
})
