import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One forwarded request, and the answers of both servers. */
type Exchange = {
  readonly request: string
  readonly status: number
  readonly answer: unknown
  readonly mirroredStatus: number
  readonly mirroredAnswer: string
}

export type Mirror = {
  readonly url: string
  readonly exchanges: readonly Exchange[]
  close(): Promise<void>
}

/** Forwards every request to one server, whose answer is returned, and copies it to another one. */
export async function startMirror(server: string, mirrorUrl: string): Promise<Mirror> {
  const exchanges: Exchange[] = []
  const proxy = createServer((request, response) => {
    void forward(request, server, mirrorUrl).then(({ exchange, text }) => {
      exchanges.push(exchange)
      response.writeHead(exchange.status, { 'content-type': 'application/json' }).end(text)
    })
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    exchanges,
    close: () =>
      new Promise((resolve) => {
        proxy.close(() => resolve())
        proxy.closeAllConnections()
      }),
  }
}

const forwardedHeaders = ['authorization', 'content-type', 'idempotency-key', 'stripe-version']

async function forward(
  request: IncomingMessage,
  server: string,
  mirrorUrl: string,
): Promise<{ exchange: Exchange; text: string }> {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  const body = Buffer.concat(chunks).toString()
  const { method = 'GET', url: path = '/', headers } = request
  const ask = (origin: string): Promise<Response> =>
    fetch(origin + path, {
      method,
      headers: forwardedHeaders.flatMap((name) => {
        const value = headers[name]
        return typeof value === 'string' ? [[name, value] as [string, string]] : []
      }),
      ...(method === 'POST' && { body }),
    })
  const [answer, mirrored] = await Promise.all([ask(server), ask(mirrorUrl)])
  const text = await answer.text()
  const exchange: Exchange = {
    request: `${method} ${path} ${body}`,
    status: answer.status,
    answer: JSON.parse(text),
    mirroredStatus: mirrored.status,
    mirroredAnswer: await mirrored.text(),
  }
  return { exchange, text }
}
