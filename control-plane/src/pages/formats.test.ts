import { expect, test } from 'vitest'
import { formatsFor } from './formats.ts'

const plain = (text: string): string => text.replaceAll(/[\u00a0\u202f]/g, ' ')

test.each([
  [undefined, 'en-US', '$1,234.50', 'Jan 31, 2026'],
  ['de-DE,de;q=0.9,en;q=0.5', 'de-DE', '1.234,50 $', '31.01.2026'],
  ['en-GB', 'en-GB', 'US$1,234.50', '31 Jan 2026'],
  ['fr;q=0.2, sv;q=0.9', 'sv', '1 234,50 US$', '31 jan. 2026'],
])('a browser that sends %j reads %s', (header, locale, amount, day) => {
  const formats = formatsFor(header)
  expect(formats.locale).toBe(locale)
  expect(plain(formats.money(123_450n, 'USD'))).toBe(amount)
  expect(formats.date(new Date('2026-01-31T23:59:59Z'))).toBe(day)
})

test.each(['*', '', ';;;', 'x-klingon', '!!, -', 'a'.repeat(5_000), 'de_DE@euro'])(
  'the language %.20j is not known, and does no harm',
  (header) => {
    expect(formatsFor(header).locale).toBe('en-US')
  },
)

test('amounts beyond what a number can hold keep every digit', () => {
  expect(formatsFor('en').money(900_719_925_474_099_267n, 'USD')).toBe('$9,007,199,254,740,992.67')
})
