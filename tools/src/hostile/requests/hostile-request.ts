import type { SeededRandom } from '../../client/seeded-random.ts'
import { hostileBody } from './hostile-body.ts'

export type HostileRequest = {
  readonly method: string
  readonly path: string
  readonly bytes: Buffer
  /** Whether the framing is invalid, so that later requests on the connection may be lost too. */
  readonly isBroken: boolean
  /** The native front answers the head with 411 and closes the connection, so the answer may be lost. */
  readonly isChunked: boolean
}

const usagePaths = [
  '/v1/sdk/usages',
  '/v1/sdk/usages/bulk',
  '/v1/sdk/meter-events',
  '/v1/sdk/meter-events/bulk',
  '/v1/sdk/limits',
]

const managementCalls = [
  ...['GET /v1/sdk/products', 'POST /v1/sdk/products', 'GET /v1/sdk/customers'],
  ...['POST /v1/sdk/customers', 'GET /v1/sdk/purchases', 'POST /v1/sdk/user-info'],
  ...['GET /v1/sdk/products/:id', 'PUT /v1/sdk/products/:id', 'DELETE /v1/sdk/products/:id'],
  ...['POST /v1/sdk/products/:id/clone', 'GET /v1/sdk/products/:id/plans'],
  ...['POST /v1/sdk/products/:id/plans', 'PUT /v1/sdk/products/:id/plans/:id'],
  ...['GET /v1/sdk/customers/:id', 'PATCH /v1/sdk/customers/:id', 'GET /v1/sdk/purchases/:id'],
  ...['GET /v1/sdk/purchases/customer/:id', 'GET /v1/sdk/purchases/product/:id'],
  ...['GET /ui/meters/:id/usage', 'GET /v1/ui/meters', 'GET /v1/ui/meters/:id'],
]

const identifiers = [
  ...['hostile_1', 'prd_HOSTILE', 'cus_X', '%00', '%ff%fe', '%F0%9F%98%80', '..%2f..', '__proto__'],
  ...['constructor', "'%3B--", '%20', 'a'.repeat(300), '%', '%7B%7D', '-1', 'null'],
]

const queries = [
  ...['', '?limit=-1', '?limit=1e9&offset=-5', '?status=%00', '?reference=a&email=b', '?email=%ff'],
  ...['?externalRef=__proto__', '?search=%25%27', '?limit[]=1', '?from=x&to=y', '?outcome=all'],
  ...['?from=2026-01-01&to=2026-01-02&granularity=hour', '?from=0000&to=9999&granularity=hour'],
]

const strangePaths = ['/', '//', '/v1/sdk/usages/', '/v1/sdk/../sdk/usages', '/favicon.ico', '/%']
const strangeMethods = ['GET', 'PUT', 'DELETE', 'HEAD', 'OPTIONS']
const strangeHeaders = [
  ...['content-type: multipart/form-data', 'content-type: text/plain', 'accept: x/y;q=z'],
  ...['content-encoding: gzip', `cookie: ${'c'.repeat(2_000)}`, 'x-forwarded-for: 1.2.3.4, evil'],
  ...['if-none-match: *', 'range: bytes=0-1', 'origin: null', 'expect: 100-continue'],
]
const brokenHeaders = [
  ...['content-length: -1', 'content-length: 1e3', 'content-length: 5, 5', 'no colon'],
  ...[
    'transfer-encoding: gzip',
    'transfer-encoding: chunked, chunked',
    ': no name',
    ' folded: yes',
  ],
  ...['connection: close', 'connection: upgrade\r\nupgrade: websocket', 'x-\xff: \xfe'],
]
const brokenRate = 0.02

/** Returns one request that no well-behaved client sends. The state of `random` determines it. */
export function nextHostileRequest(random: SeededRandom, key: string): HostileRequest {
  if (random.chance(brokenRate / 2)) return garbage(random)
  const { method, path } = target(random)
  const body = method === 'GET' || method === 'HEAD' ? Buffer.alloc(0) : hostileBody(random)
  const isBroken = random.chance(brokenRate)
  const isChunked = body.length > 0 && random.chance(0.1)
  const head = [`${method} ${path} HTTP/1.1`, 'host: localhost']
  if (random.chance(0.97)) head.push(`authorization: ${authorization(random, key)}`)
  if (random.chance(0.9)) head.push('content-type: application/json')
  if (random.chance(0.05)) head.push(random.pick(strangeHeaders))
  if (isBroken) head.push(random.pick(brokenHeaders))
  if (isChunked) head.push('transfer-encoding: chunked')
  else if (body.length > 0 || method !== 'GET') head.push(`content-length: ${body.length}`)
  const start = Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1')
  const bytes = Buffer.concat([start, isChunked ? chunked(random, body) : body])
  return { method, path, bytes, isBroken, isChunked }
}

function garbage(random: SeededRandom): HostileRequest {
  const bytes = Buffer.from(
    Array.from({ length: random.integer(1, 200) }, () => random.integer(0, 255)),
  )
  return { method: 'POST', path: '', bytes, isBroken: true, isChunked: false }
}

function target(random: SeededRandom): { method: string; path: string } {
  const kind = random.fraction()
  if (kind < 0.75) {
    const method = random.chance(0.98) ? 'POST' : random.pick(strangeMethods)
    return { method, path: random.pick(usagePaths) }
  }
  if (kind < 0.97) {
    const [method = 'GET', path = '/'] = random.pick(managementCalls).split(' ')
    const filled = path.replaceAll(':id', () => random.pick(identifiers))
    return { method, path: filled + (method === 'GET' ? random.pick(queries) : '') }
  }
  return { method: random.pick(strangeMethods), path: random.pick(strangePaths) }
}

function authorization(random: SeededRandom, key: string): string {
  if (random.chance(0.95)) return `Bearer ${key}`
  return random.pick(['', 'Bearer', 'Basic eDp5', `Bearer ${key}x`, `bearer  ${key}`, '\xff\xff'])
}

function chunked(random: SeededRandom, body: Buffer): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; at < body.length;) {
    const size = Math.min(body.length - at, random.integer(1, 1_000_000))
    parts.push(Buffer.from(`${size.toString(16)}\r\n`), body.subarray(at, at + size))
    parts.push(Buffer.from('\r\n'))
    at += size
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')])
}
