/** Behaviour of one connection of a crowd after it is open. */
export type Behaviour = {
  readonly first: Buffer
  /** Bytes sent once per second, or as fast as they are accepted. */
  readonly repeated: { readonly bytes: Buffer; readonly pace: 'steady' | 'flood' } | undefined
  /** Whether the client does not read answers. */
  readonly ignoresAnswers?: boolean
}

export type CrowdKind = 'slow' | 'endless'

const usages = 'POST /v1/sdk/usages HTTP/1.1'
const products = 'POST /v1/sdk/products HTTP/1.1'
const host = 'host: localhost'
const json = 'content-type: application/json'
/** uWebSockets.js closes connections whose body arrives slower than 16 kB per second. */
const pieceBytes = 32_768
const steadyPerFlood = 400

function head(...lines: readonly string[]): Buffer {
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`)
}

/** Returns clients that occupy a connection and send almost nothing. */
function slow(authorization: string): Behaviour[] {
  const trickle = { bytes: Buffer.from('{'), pace: 'steady' } as const
  const length = 'content-length: 100000'
  return [
    { first: Buffer.alloc(0), repeated: undefined },
    {
      first: Buffer.from(`${usages}\r\n${host}\r\n`),
      repeated: { bytes: Buffer.from('x-more: to come\r\n'), pace: 'steady' },
    },
    { first: head(usages, host, json, authorization, length), repeated: trickle },
    { first: head(products, host, json, authorization, length), repeated: trickle },
    {
      first: head('GET /v1/openapi.json HTTP/1.1', host),
      repeated: undefined,
      ignoresAnswers: true,
    },
  ]
}

/**
 * Returns clients that never stop sending: chunked bodies, bodies with a length, and headers, with a key and without. Most of them
 * send just fast enough not to count as slow, so that thousands can stay connected. A few send as fast as they can.
 */
function endless(authorization: string): Behaviour[] {
  const steady = endlessAt('steady', authorization)
  const held = {
    // Sends almost the maximum body and then nothing more, so that the server keeps the received bytes in memory.
    first: Buffer.concat([
      head(usages, host, json, authorization, 'content-length: 1000000'),
      Buffer.alloc(900_000, '['),
    ]),
    repeated: undefined,
  }
  const many = Array.from({ length: steadyPerFlood }, () => [...steady, held])
  return [...endlessAt('flood', authorization), ...many.flat()]
}

function endlessAt(pace: 'steady' | 'flood', authorization: string): Behaviour[] {
  const piece = Buffer.alloc(pieceBytes, '[')
  const size = `${pieceBytes.toString(16)}\r\n`
  const chunk = Buffer.concat([Buffer.from(size), piece, Buffer.from('\r\n')])
  const chunked = 'transfer-encoding: chunked'
  const length = 'content-length: 1099511627776'
  return [
    { first: head(usages, host, json, authorization, chunked), repeated: { bytes: chunk, pace } },
    { first: head(usages, host, json, authorization, length), repeated: { bytes: piece, pace } },
    { first: head(usages, host, json, chunked), repeated: { bytes: chunk, pace } },
    { first: head(products, host, json, authorization, chunked), repeated: { bytes: chunk, pace } },
    { first: Buffer.from(`${usages}\r\n${host}\r\nx-endless: `), repeated: { bytes: piece, pace } },
  ]
}

export function behavioursOf(kind: CrowdKind, key: string): readonly Behaviour[] {
  const authorization = `authorization: Bearer ${key}`
  return kind === 'slow' ? slow(authorization) : endless(authorization)
}
