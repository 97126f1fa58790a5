import { expect, test } from 'vitest'
import { formatsFor } from './formats.ts'
import { readerOf } from './reader.ts'

const plain = (text: string): string => text.replaceAll(/[\u00a0\u202f]/g, ' ')

test.each([
  [undefined, null, 'en', 'en-US', '$1,234.50', 'Jan 31, 2026'],
  ['de-AT,de;q=0.9,en;q=0.5', null, 'de', 'de-AT', '$ 1.234,50', '31.01.2026'],
  ['en-GB', null, 'en', 'en-GB', 'US$1,234.50', '31 Jan 2026'],
  ['fr;q=0.2, ja', null, 'ja', 'ja-JP', '$1,234.50', '2026/01/31'],
  ['pt', null, 'pt', 'pt-BR', 'US$ 1.234,50', '31 de jan. de 2026'],
  // There are no Danish texts, so the page is English with English dates.
  ['da', null, 'en', 'en-US', '$1,234.50', 'Jan 31, 2026'],
  ['da, en-GB;q=0.5', null, 'en', 'en-GB', 'US$1,234.50', '31 Jan 2026'],
  // The locale of the session has priority over the browser, which only adds its region.
  ['en-GB,en', 'de', 'de', 'de-DE', '1.234,50 $', '31.01.2026'],
  ['de-AT', 'de', 'de', 'de-AT', '$ 1.234,50', '31.01.2026'],
  ['pt-BR', 'pt-PT', 'pt', 'pt-PT', '1234,50 US$', '31/01/2026'],
  // Extensions of a tag, such as other digits, are ignored, because forms do not parse them.
  ['en-u-nu-arab', null, 'en', 'en-US', '$1,234.50', 'Jan 31, 2026'],
  ['en-u-nu-arab, en-GB-u-ca-buddhist', null, 'en', 'en-GB', 'US$1,234.50', '31 Jan 2026'],
  ['de-AT-1996', null, 'de', 'de-AT', '$ 1.234,50', '31.01.2026'],
  ['fr', 'auto', 'fr', 'fr-FR', '1 234,50 $US', '31 janv. 2026'],
])('formats for a browser that sends %j with a session in %j', (header, session, ...expected) => {
  const { language, formats } = readerOf(header, session)
  const amount = plain(formats.money(123_450n, 'USD'))
  const day = formats.date(new Date('2026-01-31T23:59:59Z'))
  expect([language, formats.locale, amount, day]).toEqual(expected)
})

test.each(['*', '', ';;;', 'x-klingon', '!!, -', 'a'.repeat(5_000), 'en_DE@euro'])(
  'uses English for the language %.20j',
  (header) => {
    expect(readerOf(header).formats.locale).toBe('en-US')
  },
)

test('keeps every digit of amounts above the safe integers', () => {
  expect(formatsFor('en').money(900_719_925_474_099_267n, 'USD')).toBe('$9,007,199,254,740,992.67')
})

test.each([
  [86_400, 'en', '1 day'],
  [18_000, 'en', '5 hours'],
  [5_400, 'de', '90 Minuten'],
  [61, 'en', '61 seconds'],
])('names %i seconds in the largest whole unit', (seconds, locale, text) => {
  expect(plain(formatsFor(locale).duration(seconds))).toBe(text)
})
