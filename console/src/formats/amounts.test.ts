import { expect, test } from 'vitest'
import { formatAmount, formatCount, formatNumberOf } from './amounts.ts'

test.each([
  [0, 'usd', '$0.00'],
  [123456, 'USD', '$1,234.56'],
  [-5, 'EUR', '-€0.05'],
  [1234, 'JPY', '¥1,234'],
  [17500, 'HUF', 'HUF 175.00'],
  [1234567, 'KWD', 'KWD 12,345.67'],
  [999_999_999_999_999, 'USD', '$9,999,999,999,999.99'],
])('%s minor units of %s are %s', (minor, currency, text) => {
  expect(formatAmount(minor, currency).replaceAll('\u00a0', ' ')).toBe(text)
})

test.each([
  [1234567.5, '1,234,567.5'],
  ['12345678901234567890.123456', '12,345,678,901,234,567,890.123456'],
  ['-0.000001', '-0.000001'],
])('the count %s keeps its digits', (value, text) => {
  expect(formatCount(value)).toBe(text)
})

test('counts have correct plurals', () => {
  expect(formatNumberOf(1, 'customer')).toBe('1 customer')
  expect(formatNumberOf(0, 'customer')).toBe('0 customers')
  expect(formatNumberOf(2_000, 'delivery', 'deliveries')).toBe('2,000 deliveries')
})
