import { expect, test } from 'vitest'
import { formatTable } from './table.ts'

test('aligns words to the left and numbers to the right', () => {
  const table = formatTable(
    ['path', 'per second'],
    [
      ['single', '61,000'],
      ['bulk of 100', '500'],
    ],
  )
  expect(table.split('\n')).toEqual([
    'path         per second',
    '-----------  ----------',
    'single           61,000',
    'bulk of 100         500',
  ])
})

test('treats an address as text', () => {
  const table = formatTable(['address'], [['127.0.0.1:9092'], ['127.0.0.1:80']])
  expect(table.split('\n').slice(2)).toEqual(['127.0.0.1:9092', '127.0.0.1:80'])
})
