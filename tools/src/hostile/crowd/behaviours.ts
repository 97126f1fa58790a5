/** What one connection of a crowd does once it is open. */
export type Behaviour = {
  readonly first: Buffer
  /** Sent once a second, or as fast as it is taken. */
  readonly then: { readonly bytes: Buffer; readonly pace: 'steady' | 'flood' } | undefined
  /** It does not take what is sent to it. */
  readonly isDeaf?: boolean
}

export type CrowdKind = 'slow' | 'endless'

const usages = 'POST /v1/sdk/usages HTTP/1.1'
const products = 'POST /v1/sdk/products HTTP/1.1'
const host = 'host: localhost'
const json = 'content-type: application/json'
/** A body must come at 16 kB a second, or uWebSockets.js cuts it off. */
const pieceBytes = 32_768
const steadyPerFlood = 400

function head(...lines: readonly string[]): Buffer {
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`)
}

/** Clients that hold a connection and as good as nothing comes of it. */
function slow(authorization: string): Behaviour[] {
  const trickle = { bytes: Buffer.from('{'), pace: 'steady' } as const
  const length = 'content-length: 100000'
  return [
    { first: Buffer.alloc(0), then: undefined },
    {
      first: Buffer.from(`${usages}\r\n${host}\r\n`),
      then: { bytes: Buffer.from('x-more: to come\r\n'), pace: 'steady' },
    },
    { first: head(usages, host, json, authorization, length), then: trickle },
    { first: head(products, host, json, authorization, length), then: trickle },
    {
      first: head('GET /v1/openapi.json HTTP/1.1', host),
      then: undefined,
      isDeaf: true,
    },
  ]
}

/**
 * Clients that send and send: bodies in chunks, bodies as long as announced, headers; with a key and without. Each
 * just fast enough not to be taken for a slow one, so that thousands can be held at a time; a few as fast as they can.
 */
function endless(authorization: string): Behaviour[] {
  const steady = endlessAt('steady', authorization)
  const held = {
    // Just short of what is taken, and then nothing more: the bytes that were collected stay.
    first: Buffer.concat([
      head(usages, host, json, authorization, 'content-length: 1000000'),
      Buffer.alloc(900_000, '['),
    ]),
    then: undefined,
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
    { first: head(usages, host, json, authorization, chunked), then: { bytes: chunk, pace } },
    { first: head(usages, host, json, authorization, length), then: { bytes: piece, pace } },
    { first: head(usages, host, json, chunked), then: { bytes: chunk, pace } },
    { first: head(products, host, json, authorization, chunked), then: { bytes: chunk, pace } },
    { first: Buffer.from(`${usages}\r\n${host}\r\nx-endless: `), then: { bytes: piece, pace } },
  ]
}

export function behavioursOf(kind: CrowdKind, key: string): readonly Behaviour[] {
  const authorization = `authorization: Bearer ${key}`
  return kind === 'slow' ? slow(authorization) : endless(authorization)
}
