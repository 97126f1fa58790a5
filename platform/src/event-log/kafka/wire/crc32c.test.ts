import { expect, it } from 'vitest'
import { crc32c } from './crc32c.ts'

// Check values of RFC 3720, appendix B.4, and the common one of the nine digits.
it.each([
  ['the digits', Buffer.from('123456789'), 0xe3069283],
  ['32 zero bytes', Buffer.alloc(32), 0x8a9136aa],
  ['32 bytes of ones', Buffer.alloc(32, 0xff), 0x62a8ab43],
  ['rising bytes', Buffer.from(Array.from({ length: 32 }, (_, n) => n)), 0x46dd794e],
  ['nothing', Buffer.alloc(0), 0],
])('is the checksum of %s', (_name, bytes, expected) => {
  expect(crc32c(bytes, 0, bytes.byteLength)).toBe(expected)
  const within = Buffer.concat([Buffer.from('before'), bytes, Buffer.from('after')])
  expect(crc32c(within, 6, 6 + bytes.byteLength)).toBe(expected)
})
