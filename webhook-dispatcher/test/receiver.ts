import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Received = {
  readonly path: string
  readonly body: string
  readonly deliveryRef: string
  readonly eventId: string
  readonly attempt: number
  readonly signature: string
  readonly at: number
}

/** A response with a status and optional headers, or `hang`: no response at all. */
export type Answer = { readonly status: number; readonly headers?: Record<string, string> } | 'hang'

export type Receiver = {
  readonly url: string
  readonly received: Received[]
  close(): Promise<void>
}

/** Starts an HTTP receiver that records every request and responds with the result of `answer`. */
export async function startReceiver(
  answer: (received: Received) => Answer | Promise<Answer>,
): Promise<Receiver> {
  const received: Received[] = []
  const server = createServer((request, response) => {
    void readBody(request).then(async (body) => {
      const one = read(request, body)
      received.push(one)
      respond(response, await answer(one))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Verifies a signature with one secret as the documentation describes it for receivers. */
export function isSignedBy(
  { signature, body }: Received,
  secret: string,
  whichV1: 'first' | 'any',
): boolean {
  const parts = signature.split(',')
  const t = parts.find((part) => part.startsWith('t='))!.slice(2)
  const digest = createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')
  const signatures = parts.filter((part) => part.startsWith('v1=')).map((part) => part.slice(3))
  return whichV1 === 'first' ? signatures[0] === digest : signatures.includes(digest)
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

function read({ url, headers }: IncomingMessage, body: string): Received {
  return {
    path: url!,
    body,
    deliveryRef: String(headers['sv-delivery']),
    eventId: String(headers['sv-event-id']),
    attempt: Number(headers['sv-attempt']),
    signature: String(headers['sv-signature']),
    at: performance.now(),
  }
}

function respond(response: ServerResponse, answer: Answer): void {
  if (answer === 'hang') return
  response.writeHead(answer.status, answer.headers).end('{"received":true}')
}
