import { expect, test } from 'vitest'
import { explainFileError } from './start-refused.ts'

const full = /^The disk that holds \/data is full\. /

test.for([
  ['what node says', Object.assign(new Error('write failed'), { code: 'ENOSPC' })],
  ['what a service said last', new Error('No space left on device')],
  [
    'what PostgreSQL says of half a write',
    new Error(
      'could not extend file "base/1/2691": wrote only 4096 of 8192 bytes\nHINT:  Check free disk space.',
    ),
  ],
] as const)('reports a full disk in one line, from %s', ([, error]) => {
  expect(explainFileError(error, '/data').message).toMatch(full)
})

test('leaves other errors unchanged', () => {
  const error = new Error('something else')
  expect(explainFileError(error, '/data')).toBe(error)
})
