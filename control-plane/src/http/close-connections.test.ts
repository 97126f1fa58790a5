import { once } from 'node:events'
import { connect, type AddressInfo, type Socket } from 'node:net'
import Fastify, { type FastifyInstance } from 'fastify'
import { beforeEach, expect, it } from 'vitest'
import { closeConnectionsAtStop } from './close-connections.ts'

let app: FastifyInstance
const handler = new EventTarget()

beforeEach(async () => {
  app = Fastify({ keepAliveTimeout: 600_000 })
  closeConnectionsAtStop(app)
  app.get('/', async () => {
    handler.dispatchEvent(new Event('asked'))
    await once(handler, 'answer')
    return 'done'
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
})

async function open(): Promise<Socket> {
  const accepted = once(app.server, 'connection')
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  await accepted
  return socket
}

it('a stop answers open requests, and then closes connections that their clients keep', async () => {
  const client = await open()
  let answer = ''
  client.on('data', (bytes) => (answer += bytes.toString()))
  const asked = once(handler, 'asked')
  client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await asked
  const stopped = app.close()
  const closed = once(client, 'close')
  setTimeout(() => handler.dispatchEvent(new Event('answer')), 300)
  await Promise.all([stopped, closed])
  expect(answer).toContain('done')
})

it('a stop does not wait for connections without a request', async () => {
  const client = await open()
  client.resume()
  await Promise.all([app.close(), once(client, 'close')])
})
