import { connect, type AddressInfo } from 'node:net'
import { createMetrics } from '@tollgate/platform/observability/metrics'
import { createClickHouseUsageStore } from '@tollgate/platform/usage-store/clickhouse/clickhouse-usage-store'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { ApiServer } from '../src/access/api-server.ts'
import { buildTestApp } from './built-app.ts'
import { startTestStack, type TestStack } from './test-stack.ts'

/* `Expect: 100-continue` after another request on the same connection. */

let stack: TestStack
let app: ApiServer
/* The tests do not use this store. */
const usageStore = createClickHouseUsageStore({
  url: 'http://127.0.0.1:9',
  username: 'default',
  password: '',
  requestTimeoutMs: 500,
})
let openGate: () => void
/** Promises that resolve when the route has been called. */
let calls: Record<'first' | 'second', { readonly called: Promise<void>; readonly note: () => void }>

beforeAll(async () => {
  stack = await startTestStack()
})
afterAll(() => stack.stop())

beforeEach(async () => {
  const { database } = stack
  app = await buildTestApp(stack, { database, usageStore, metrics: createMetrics('test') })
  const gate = new Promise<void>((resolve) => (openGate = resolve))
  calls = { first: call(), second: call() }
  app.get('/first', async (_, reply) => {
    calls.first.note()
    await gate
    return reply.send('/first ')
  })
  app.post('/second', async ({ body }, reply) => {
    calls.second.note()
    return reply.send(Buffer.from(`/second ${JSON.stringify(body)}`))
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
})
afterEach(() => app.close())

function call() {
  let note: () => void = () => undefined
  const called = new Promise<void>((resolve) => (note = resolve))
  return { called, note }
}

const first = 'GET /first HTTP/1.1\r\nHost: a\r\n\r\n'
const expecting = (length: number): string =>
  'POST /second HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n' +
  `Expect: 100-continue\r\nContent-Length: ${length}\r\n\r\n`

async function open() {
  const { port } = app.server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1')
  let received = ''
  socket.on('data', (bytes: Buffer) => (received += bytes.toString('latin1')))
  return {
    write: (text: string) => void socket.write(text),
    /** Returns everything received so far, as soon as it contains the text. */
    until: (text: string) =>
      expect
        .poll(() => received, { timeout: 10_000 })
        .toContain(text)
        .then(() => received),
  }
}

test('sends no interim response between the head and the body of a response', async () => {
  const connection = await open()
  connection.write(`${first}${expecting(2)}{}`)
  await calls.second.called
  // The second request is answered first, and its response waits for the first one.
  await new Promise(setImmediate)
  openGate()
  expect(await connection.until('/second ')).not.toContain('100 Continue')
})

test('sends the interim response in its turn, and then reads the body', async () => {
  const connection = await open()
  connection.write(`${first}${expecting(2)}`)
  await calls.first.called
  openGate()
  const text = await connection.until('100 Continue\r\n\r\n')
  expect(text).toMatch(/^HTTP\/1\.1 200 OK[^]*\r\n\r\n\/first HTTP\/1\.1 100 Continue\r\n\r\n$/)
  connection.write('{}')
  expect(await connection.until('/second ')).toMatch(/Content-Length: 10\r\n[^]*\/second \{\}$/i)
})

test('sends the interim response at once if no response is before it', async () => {
  const connection = await open()
  connection.write(expecting(2))
  expect(await connection.until('100 Continue\r\n\r\n')).toBe('HTTP/1.1 100 Continue\r\n\r\n')
  connection.write('{}')
  await connection.until('/second {}')
})
