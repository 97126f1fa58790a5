import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { hostileBody } from './hostile-values.ts'
import { SeededRandom } from '@tollgate/platform/testing/seeded-random'

/*
 * Requests that no well-behaved client sends: malformed, oversized, cut off, or with a false length. Each is a function of the seed
 * and its number. The tests assert that the service stays up, that its only 5xx is 503 (and 505 from the native parser for bytes
 * that it does not recognize as HTTP/1.1), and that it stores only acknowledged records.
 */

export type HostileRequest = {
  /** The bytes of the request, packet by packet. */
  readonly packets: readonly Buffer[]
  /** True if the client disconnects after the last packet without waiting for a response. */
  readonly isCutOff: boolean
}

/** The status of the first response, or 'no answer' if the connection ended without one. */
export type HostileOutcome = number | 'no answer'

const targets = [
  '/v1/sdk/usages',
  '/v1/sdk/usages/bulk',
  '/v1/sdk/meter-events',
  '/v1/sdk/meter-events/bulk',
  '/v1/sdk/limits',
]

const strangeTargets = [
  '/',
  '*',
  '//',
  '/v1/sdk/usages/',
  '/v1/sdk/usages?__proto__=1',
  '/v1/sdk/../sdk/usages',
  '/v1/sdk/customers/%00',
  '/v1/sdk/products/%ff%fe',
  '/%',
  '/\x01\x02',
  'http://evil.example.com/v1/sdk/usages',
  `/${'a'.repeat(3000)}`,
]

const methods = ['GET', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'CONNECT', 'FROB', 'post', '']

const strangeHeaders = [
  'content-length: -1',
  'content-length: 99999999999',
  'content-length: 1e3',
  'content-length: 5, 5',
  'transfer-encoding: gzip',
  'transfer-encoding: chunked, chunked',
  'connection: upgrade\r\nupgrade: websocket',
  'connection: close',
  'expect: 200-maybe',
  'expect: 100-continue',
  'authorization: Bearer x',
  'content-type: multipart/form-data',
  'content-type: application/x-www-form-urlencoded',
  'content-type: text/plain',
  `cookie: ${'c'.repeat(5000)}`,
  'x-forwarded-for: 1.2.3.4\x00',
  ': no name',
  'no colon',
  'x-\xff: \xfe',
  ' folded: yes',
]

/** Generates the requests. With the valid `secretKey` the bodies are parsed too, rather than only the keys checked. */
export class HostileRequests {
  readonly #random: SeededRandom
  readonly #secretKey: string

  constructor(seed: number, secretKey: string) {
    this.#random = new SeededRandom(seed)
    this.#secretKey = secretKey
  }

  next(): HostileRequest {
    const random = this.#random
    const whole = random.chance(0.03) ? random.bytes(random.below(500)) : this.#request()
    const isCutOff = random.chance(0.15)
    const sent = isCutOff ? whole.subarray(0, random.below(whole.byteLength + 1)) : whole
    return { packets: this.#split(sent), isCutOff }
  }

  #request(): Buffer {
    const random = this.#random
    const body = hostileBody(random)
    const isChunked = random.chance(0.2)
    const target = random.chance(0.95) ? random.pick(targets) : random.pick(strangeTargets)
    const method = random.chance(0.95) ? 'POST' : random.pick(methods)
    const lines = [`${method} ${target} HTTP/1.1`, 'host: localhost']
    if (random.chance(0.9)) lines.push(`authorization: ${this.#authorization()}`)
    if (random.chance(0.9)) lines.push('content-type: application/json')
    if (random.chance(0.1)) lines.push(random.pick(strangeHeaders))
    if (isChunked) lines.push('transfer-encoding: chunked')
    else if (random.chance(0.98)) lines.push(`content-length: ${this.#announced(body)}`)
    const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
    return Buffer.concat([head, isChunked ? this.#chunked(body) : body])
  }

  #authorization(): string {
    const random = this.#random
    if (random.chance(0.93)) return `Bearer ${this.#secretKey}`
    return random.pick([
      '',
      'Bearer',
      'Basic eDp5',
      `Bearer ${this.#secretKey}x`,
      '\xff'.repeat(90),
    ])
  }

  /** Returns the announced length of a body, which is correct in most cases. */
  #announced(body: Buffer): number {
    const random = this.#random
    return random.chance(0.97)
      ? body.byteLength
      : Math.max(0, body.byteLength - 5 + random.below(10))
  }

  #chunked(body: Buffer): Buffer {
    const random = this.#random
    const parts: Buffer[] = []
    for (let at = 0; at < body.byteLength;) {
      const size = Math.min(body.byteLength - at, 1 + random.below(5_000))
      const announcedSize = random.chance(0.98)
        ? size.toString(16)
        : random.pick(['zz', '-1', 'ffffffffff', ''])
      parts.push(
        Buffer.from(`${announcedSize}\r\n`),
        body.subarray(at, at + size),
        Buffer.from('\r\n'),
      )
      at += size
    }
    if (random.chance(0.95)) parts.push(Buffer.from('0\r\n\r\n'))
    return Buffer.concat(parts)
  }

  #split(bytes: Buffer): Buffer[] {
    const random = this.#random
    if (random.chance(0.7)) return [bytes]
    const cuts = Array.from({ length: 1 + random.below(4) }, () =>
      random.below(bytes.byteLength + 1),
    )
    const places = [0, ...cuts.sort((a, b) => a - b), bytes.byteLength]
    return places.slice(1).map((end, index) => bytes.subarray(places[index], end))
  }
}

/** Sends one request on a new connection and waits for a response for a limited time. */
export function sendHostile(
  port: number,
  request: HostileRequest,
  patienceMs: number,
): Promise<HostileOutcome> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let status: HostileOutcome = 'no answer'
    const finish = (): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve(status)
    }
    const timer = setTimeout(finish, patienceMs)
    socket.setNoDelay(true)
    socket.on('error', finish)
    socket.on('close', finish)
    socket.on('data', (data) => {
      const text = data.toString('latin1')
      const [, code] =
        /^HTTP\/1\.1 (\d{3})/.exec(text.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '')) ?? []
      if (code === undefined) return
      status = Number(code)
      finish()
    })
    void (async () => {
      for (const packet of request.packets) {
        if (packet.byteLength > 0) socket.write(packet)
        if (request.packets.length > 1) await sleep(0)
      }
      if (request.isCutOff) finish()
    })()
  })
}
