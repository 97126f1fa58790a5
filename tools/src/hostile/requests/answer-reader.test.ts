import { expect, test } from 'vitest'
import { AnswerReader } from './answer-reader.ts'

const answers =
  'HTTP/1.1 100 Continue\r\n\r\n' +
  'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}' +
  'HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 85\r\nConnection: close\r\n\r\n' +
  'HTTP/1.1 400 Bad Request\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n' +
  'HTTP/1.1 204 No Content\r\n\r\n'

const expected = [
  { status: 200, body: '{}', isLast: false },
  { status: 405, body: '', isLast: true },
  { status: 400, body: 'abcd', isLast: false },
  { status: 204, body: '', isLast: false },
]

test.each([1, 2, 7, 1_000])('reads the same answers in packets of %i bytes', (size) => {
  const reader = new AnswerReader()
  const read: unknown[] = []
  const bytes = Buffer.from(answers)
  for (let at = 0; at < bytes.length; at += size) {
    reader.push(bytes.subarray(at, at + size))
    for (;;) {
      // The second request was a HEAD request.
      const answer = reader.next(read.length === 1)
      if (!answer) break
      read.push(answer)
    }
  }
  expect(read).toEqual(expected)
})
