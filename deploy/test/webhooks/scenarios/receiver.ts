import { createHmac, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** A delivery as parsed by a receiver. */
export type Received = {
  readonly deliveryId: string
  readonly attempt: number
  /** The body as received. */
  readonly body: string
}

const toleranceSeconds = 300

/**
 * A receiver built only from the documentation. It verifies headers and the signature of the received bytes, and answers 200, or
 * 401 to unsigned requests.
 */
export class Receiver {
  readonly received: Received[] = []
  /** Reasons of refused deliveries. */
  readonly faults: string[] = []
  /** Signing secret, set after the endpoint is created. */
  secret = ''
  readonly #server: Server
  readonly #now: () => number

  private constructor(now: () => number) {
    this.#now = now
    this.#server = createServer((request, response) => {
      void this.#take(request).then((status) => {
        response.writeHead(status, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ received: status === 200 }))
      })
    })
  }

  /** Starts a receiver. `now` returns Unix milliseconds. */
  static async open(now: () => number): Promise<Receiver> {
    const receiver = new Receiver(now)
    receiver.#server.listen(0, '127.0.0.1')
    await once(receiver.#server, 'listening')
    return receiver
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo
    return `http://127.0.0.1:${port}/hooks`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  async #take(request: IncomingMessage): Promise<number> {
    const body = await buffer(request)
    const fault = this.#faultOf(request, body)
    if (fault !== undefined) {
      this.faults.push(fault)
      return 401
    }
    this.received.push({
      deliveryId: String(request.headers['sv-delivery']),
      attempt: Number(request.headers['sv-attempt']),
      body: body.toString('utf8'),
    })
    return 200
  }

  #faultOf({ method, headers }: IncomingMessage, body: Buffer): string | undefined {
    if (method !== 'POST') return `sent with ${method}`
    if (headers['content-type'] !== 'application/json') return `of ${headers['content-type']}`
    if (!/^dlv_\w+$/.test(String(headers['sv-delivery']))) return 'without a delivery'
    if (!/^([1-9]|1[0-2])$/.test(String(headers['sv-attempt']))) return 'without an attempt'
    if (!/^\S+\/\S+ \(\+webhooks\)$/.test(String(headers['user-agent']))) return 'without an agent'
    const { id } = JSON.parse(body.toString('utf8')) as { readonly id: string }
    if (headers['sv-event-id'] !== id) return `of event ${id} under another id`
    return this.#faultOfSignature(String(headers['sv-signature']), body)
  }

  #faultOfSignature(header: string, body: Buffer): string | undefined {
    const parts = header.split(',')
    const time = parts.find((part) => part.startsWith('t='))?.slice(2)
    const signature = parts.find((part) => part.startsWith('v1='))?.slice(3)
    if (time === undefined || signature === undefined) return `signed with ${header}`
    const age = Math.abs(this.#now() / 1000 - Number(time))
    if (!(age <= toleranceSeconds)) return `signed ${age} seconds ago`
    const expected = createHmac('sha256', this.secret).update(`${time}.`).update(body).digest()
    const given = Buffer.from(signature, 'hex')
    const isOurs = given.length === expected.length && timingSafeEqual(given, expected)
    return isOurs ? undefined : 'signed by somebody else'
  }
}
