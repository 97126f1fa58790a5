import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, expect, test } from 'vitest'
import { ServiceCalls } from '../services/service-calls.ts'
import { createRelease } from './release-hold.ts'

let requests = 0
let answer: (response: ServerResponse) => unknown
const server = createServer((_request, response) => {
  requests += 1
  answer(response)
})
await once(server.listen(0, '127.0.0.1'), 'listening')
const { port } = server.address() as AddressInfo
const holder = { environment: 'sandbox', providerId: 'prv_1' } as const

afterEach(() => (requests = 0))
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

async function release(timeoutMs: number): Promise<void> {
  const origin = `http://127.0.0.1:${port}`
  const ingest = new ServiceCalls({ origin, secret: 'x'.repeat(43), connectionsMax: 1 })
  await createRelease(ingest, timeoutMs)(holder, 'rsv_1')
  await ingest.close()
}

const succeed = (response: ServerResponse) => response.writeHead(200).end('{}')

test.each<[string, (response: ServerResponse) => unknown]>([
  ['closes the connection', (response) => response.destroy()],
  ['is busy', (response) => response.writeHead(503).end('{}')],
])('releases a hold again if ingest %s', async (_how, fail) => {
  answer = (response) => (requests <= 2 ? fail(response) : succeed(response))
  await release(3_000)
  expect(requests).toBe(3)
})

test('releases a hold once if ingest answers', async () => {
  answer = succeed
  await release(3_000)
  expect(requests).toBe(1)
})

test('ends the attempts after the timeout', async () => {
  answer = (response) => response.destroy()
  await release(200)
  expect(requests).toBeGreaterThan(1)
})
