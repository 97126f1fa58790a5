import type { SeededRandom } from '../../client/seeded-random.ts'

/** Customer of records that are stored only if a request is parsed incorrectly. */
export const smuggledCustomer = 'smuggled'
/** Customer of records that are stored if their request is answered with 200. */
export const plainCustomer = 'beside_smuggling'

const paths = ['/v1/sdk/usages', '/v1/sdk/products', '/v1/sdk/limits', '/v1/sdk/customers']
/** Heads of requests that must not be executed, whatever follows. `{n}` is the length of the body. */
const ambiguousHeads = [
  ...['Content-Length: {n}\r\nContent-Length: 0', 'Content-Length: 0\r\nContent-Length: {n}'],
  ...[
    'Content-Length: {n}\r\nContent-Length: {n}',
    'Content-Length: {n}, {n}',
    'Content-Length: +{n}',
  ],
  ...['Content-Length: 0x{n}', 'Content-Length:', 'Content-Length:\r\nContent-Length: {n}'],
  ...['Content-Length: 18446744073709551616', 'Content-Length : {n}', 'Content-Length: {n}\nX: y'],
  ...['Content-Length: {n}\r\nTransfer-Encoding: chunked', 'Transfer-Encoding: chunked, identity'],
  ...['Transfer-Encoding: chunked\r\nContent-Length: {n}', 'Transfer-Encoding: identity'],
  ...['Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked', 'Transfer-Encoding: xchunked'],
  ...['Transfer-Encoding:', 'Transfer-Encoding: Chunked', 'Transfer-Encoding : chunked'],
  ...[
    'X: a\r\n Content-Length: {n}',
    'X: a\rb\r\nContent-Length: {n}',
    'X: \0\r\nContent-Length: {n}',
  ],
  ...['Host: b\r\nContent-Length: {n}', 'Authorization: b\r\nContent-Length: {n}'],
  ...['Expect: x\r\nContent-Length: {n}', 'no colon\r\nContent-Length: {n}'],
]
/** Malformed chunked bodies that must be refused. `C` is the content, `S` its size in hexadecimal digits. */
const malformedChunks = [
  ...['S\nC\r\n0\r\n\r\n', 'S\r\nC\n0\r\n\r\n', 'S\r\nC\r\n0\n\r\n', 'S;\nC\r\n0\r\n\r\n'],
  ...[
    'S ;x\r\nC\r\n0\r\n\r\n',
    '0xS\r\nC\r\n0\r\n\r\n',
    'S\r\nCxx0\r\n\r\n',
    'g\r\nC\r\n0\r\n\r\n',
  ],
  ...['\r\nC\r\n0\r\n\r\n', 'S\r\nC\r\n0\r\nXY', '-S\r\nC\r\n0\r\n\r\n'],
]
const chunksRate = 0.3

export function usageRequest(key: string, customerRef: string): string {
  const body = JSON.stringify({ customerRef })
  return `${head('/v1/sdk/usages', key)}Content-Length: ${body.length}\r\n\r\n${body}`
}

/** Returns a request that must not be executed, with another request in or after its body that would record usage. */
export function smugglingBytes(random: SeededRandom, key: string): Buffer {
  const start = head(random.pick(paths), key)
  const smuggled = usageRequest(key, smuggledCustomer)
  const content = random.chance(0.5) ? JSON.stringify({ customerRef: smuggledCustomer }) : smuggled
  if (random.chance(chunksRate)) {
    const chunks = random
      .pick(malformedChunks)
      .replace('S', content.length.toString(16))
      .replace('C', () => content)
    return latin1(`${start}Transfer-Encoding: chunked\r\n\r\n${chunks}${smuggled}`)
  }
  const lines = random.pick(ambiguousHeads).replaceAll('{n}', String(content.length))
  return latin1(`${start}${lines}\r\n\r\n${content}${smuggled}`)
}

function head(path: string, key: string): string {
  return `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`
}

function latin1(text: string): Buffer {
  return Buffer.from(text, 'latin1')
}
