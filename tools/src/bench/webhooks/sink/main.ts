/*
 * The receiver of `measure-webhooks.ts` in its own process. It answers 200 immediately, never answers requests to `/hang`, and
 * records what it receives.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { SinkAnswer, SinkQuestion } from './protocol.ts'

let taken = new Map<string, { times: number; readonly atMs: number }>()
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
  const known = taken.get(delivery)
  if (known === undefined) {
    taken.set(delivery, { times: 1, atMs })
    distinct += 1
  } else known.times += 1
  request.once('end', () => response.writeHead(200).end('{"received":true}'))
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  process.send!({ port: (server.address() as AddressInfo).port } satisfies SinkAnswer)
})

process.on('message', (question: SinkQuestion) => {
  process.send!(answer(question))
})
process.on('disconnect', () => process.exit())

function answer(question: SinkQuestion): SinkAnswer {
  if (question === 'count') return { distinct, hanging }
  if (question === 'list') {
    return { taken: [...taken].map(([delivery, { times, atMs }]) => [delivery, times, atMs]) }
  }
  taken = new Map()
  distinct = 0
  hanging = 0
  return { distinct, hanging }
}
