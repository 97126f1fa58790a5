import { expect, test } from 'vitest'
import { explainFileError } from './start-refused.ts'

const full = /^The disk that holds \/data is full\. /

test.for([
  ['an error of Node.js', Object.assign(new Error('write failed'), { code: 'ENOSPC' })],
  ['the last log line of a service', new Error('No space left on device')],
  [
    'a partial write of PostgreSQL',
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
