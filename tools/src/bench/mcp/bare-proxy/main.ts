import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream'

/* A minimal reverse proxy between a client and an MCP server. It forwards bytes without parsing them. */

const origin = new URL(process.argv[2] ?? '')
const agent = new Agent({ keepAlive: true, maxSockets: 256 })

const server = createServer((incoming, answer) => {
  const { host: _, connection: _own, ...headers } = incoming.headers
  const outgoing = request(
    origin,
    { agent, method: incoming.method ?? 'POST', headers },
    (received) => {
      answer.writeHead(received.statusCode ?? 502, received.headers)
      pipeline(received, answer, () => undefined)
    },
  )
  outgoing.once('error', () => answer.destroy())
  pipeline(incoming, outgoing, () => undefined)
})
server.keepAliveTimeout = 120_000

server.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port })
})
process.on('disconnect', () => process.exit(0))
