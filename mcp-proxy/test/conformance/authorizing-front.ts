import { once } from 'node:events'
import { createServer, request as send, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream'

export type AuthorizingFront = {
  readonly url: string
  stop(): Promise<void>
}

/**
 * Starts a server that forwards requests unchanged, with an access token added, because the conformance suite has no option for
 * one. Its URL has the path of `target`.
 */
export async function startAuthorizingFront(
  target: string,
  token: string,
): Promise<AuthorizingFront> {
  const { host, hostname, port, pathname } = new URL(target)
  const server = createServer((request, response) => {
    const { method, url, headers } = request
    // A foreign Host header is forwarded unchanged, so that the proxy can refuse it.
    const own = headers.host === `127.0.0.1:${portOf(server)}`
    const onward = send({
      ...{ hostname, port, method, path: url },
      headers: { ...headers, ...(own ? { host } : {}), authorization: `Bearer ${token}` },
    })
    onward.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      response.flushHeaders()
      pipeline(answer, response, () => undefined)
    })
    onward.on('error', () => response.destroy())
    response.on('close', () => onward.destroy())
    pipeline(request, onward, () => undefined)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${portOf(server)}${pathname}`,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}
