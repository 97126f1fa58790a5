/*
 * The receiver of `measure-webhooks.ts` in its own process. It answers 200 immediately, never answers requests to `/hang`, and
 * records what it receives.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { SinkResponse, SinkRequest } from './protocol.ts'

let received = new Map<string, { times: number; readonly atMs: number }>()
let distinct = 0
let hanging = 0

const server = createServer((request, response) => {
  const atMs = performance.timeOrigin + performance.now()
  request.resume()
  if (request.url === '/hang') {
    hanging += 1
    return
  }
  const delivery = String(request.headers['sv-delivery'])
  const known = received.get(delivery)
  if (known === undefined) {
    received.set(delivery, { times: 1, atMs })
    distinct += 1
  } else known.times += 1
  request.once('end', () => response.writeHead(200).end('{"received":true}'))
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  process.send!({ port: (server.address() as AddressInfo).port } satisfies SinkResponse)
})

process.on('message', (request: SinkRequest) => {
  process.send!(answer(request))
})
process.on('disconnect', () => process.exit())

function answer(request: SinkRequest): SinkResponse {
  if (request === 'count') return { distinct, hanging }
  if (request === 'list') {
    return { received: [...received].map(([delivery, { times, atMs }]) => [delivery, times, atMs]) }
  }
  received = new Map()
  distinct = 0
  hanging = 0
  return { distinct, hanging }
}
