/** Behaviour of one connection of a crowd after it is open. */
export type Behaviour = {
  readonly first: Buffer
  /** Bytes sent once per `everySeconds`, or as fast as they are accepted if that is 0. */
  readonly repeated: { readonly bytes: Buffer; readonly everySeconds: number } | undefined
  /** Whether the client does not read answers. */
  readonly ignoresAnswers?: boolean
}

export type CrowdKind = 'slow' | 'endless'

const usages = 'POST /v1/sdk/usages HTTP/1.1'
const products = 'POST /v1/sdk/products HTTP/1.1'
const host = 'host: localhost'
const json = 'content-type: application/json'
/**
 * Bytes of a piece. uWebSockets.js closes connections whose body arrives slower than 16 kB per second on average. Pieces of 4
 * seconds cost both sides a quarter of the calls of smaller ones.
 */
const pieceSeconds = 4
const pieceBytes = pieceSeconds * 18_432
/** Steady clients per client that the server cuts off. */
const steadyPerCutOff = 400
/**
 * Announced length of a body that the server refuses, but reads until its end because it is below
 * `TOLLGATE_DISCARDED_BODY_BYTES_MAX`. At the pace of a steady client that takes a quarter of an hour.
 */
const readToItsEnd = 'content-length: 16000000'
/** Announced length below `TOLLGATE_BODY_BYTES_MAX`, so that the server keeps what has arrived. */
const kept = 'content-length: 1000000'

function head(...lines: readonly string[]): Buffer {
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`)
}

/** Returns clients that occupy a connection and send almost nothing. */
function slow(authorization: string): Behaviour[] {
  const trickle = { bytes: Buffer.from('{'), everySeconds: 1 }
  const length = 'content-length: 100000'
  return [
    { first: Buffer.alloc(0), repeated: undefined },
    {
      first: Buffer.from(`${usages}\r\n${host}\r\n`),
      repeated: { bytes: Buffer.from('x-more: to come\r\n'), everySeconds: 1 },
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

/** Returns clients that send bodies just fast enough not to count as slow. The server reads them, so that thousands stay connected. */
function endless(authorization: string): Behaviour[] {
  const repeated = { bytes: Buffer.alloc(pieceBytes, '['), everySeconds: pieceSeconds }
  return [
    { first: head(usages, host, json, authorization, readToItsEnd), repeated },
    { first: head(usages, host, json, readToItsEnd), repeated },
    { first: head(products, host, json, authorization, readToItsEnd), repeated },
    { first: head(usages, host, json, authorization, kept), repeated },
  ]
}

/**
 * Returns clients that the server cuts off: they send without end as fast as they can (chunked bodies, bodies with a length,
 * and headers, with a key and without), or almost a whole body and then nothing more.
 */
function cutOff(authorization: string): Behaviour[] {
  const piece = Buffer.alloc(pieceBytes, '[')
  const size = `${pieceBytes.toString(16)}\r\n`
  const chunk = Buffer.concat([Buffer.from(size), piece, Buffer.from('\r\n')])
  const chunked = 'transfer-encoding: chunked'
  const length = 'content-length: 1099511627776'
  const [ofChunks, ofPieces] = [chunk, piece].map((bytes) => ({ bytes, everySeconds: 0 }))
  return [
    { first: head(usages, host, json, authorization, chunked), repeated: ofChunks },
    { first: head(usages, host, json, authorization, length), repeated: ofPieces },
    { first: head(usages, host, json, chunked), repeated: ofChunks },
    { first: head(products, host, json, authorization, chunked), repeated: ofChunks },
    { first: Buffer.from(`${usages}\r\n${host}\r\nx-endless: `), repeated: ofPieces },
    {
      first: Buffer.concat([
        head(usages, host, json, authorization, kept),
        Buffer.alloc(900_000, '['),
      ]),
      repeated: undefined,
    },
  ]
}

/** `lasting` clients stay connected. The ones in `further` are cut off, and are to be opened when all others are connected. */
export type CrowdPlan = {
  readonly lasting: readonly Behaviour[]
  readonly further: readonly Behaviour[]
}

/** Returns the behaviour of each connection of a crowd of `size` connections. */
export function planOf(kind: CrowdKind, size: number, key: string): CrowdPlan {
  const authorization = `authorization: Bearer ${key}`
  const ofMany = (count: number, behaviours: readonly Behaviour[]) =>
    Array.from({ length: count }, (_, index) => behaviours[index % behaviours.length]!)
  if (kind === 'slow') return { lasting: ofMany(size, slow(authorization)), further: [] }
  const others = cutOff(authorization)
  const rounds = Math.ceil(size / steadyPerCutOff / others.length)
  return {
    lasting: ofMany(size, endless(authorization)),
    further: ofMany(rounds * others.length, others),
  }
}
