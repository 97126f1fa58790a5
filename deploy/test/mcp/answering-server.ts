import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** Replaces the control plane with answers that the test chooses. */
export type AnsweringServer = {
  readonly url: string
  /** The requests received so far. */
  readonly requests: { path: string; authorization: string | undefined; body: unknown }[]
  answer: (path: string) => readonly [status: number, body: object]
  stop(): void
}

export async function startAnsweringServer(): Promise<AnsweringServer> {
  const http = createServer((request, response) => {
    void text(request).then((body) => {
      const { url: path = '', headers } = request
      server.requests.push({ path, authorization: headers.authorization, body: JSON.parse(body) })
      const [status, answered] = server.answer(path)
      response.writeHead(status).end(JSON.stringify(answered))
    })
  })
  await once(http.listen(0, '127.0.0.1'), 'listening')
  const server: AnsweringServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    requests: [],
    answer: () => [404, {}],
    stop: () => {
      http.closeAllConnections()
      http.close()
    },
  }
  return server
}
