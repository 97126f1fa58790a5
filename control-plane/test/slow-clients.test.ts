import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ControlPlane } from '../src/service.ts'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

let stack: TestStack
let tenant: Tenant
let service: ControlPlane

beforeAll(async () => {
  stack = await startTestStack()
  tenant = await stack.createTenant()
  service = stack.createService({ TOLLGATE_REQUEST_TIMEOUT_MS: '200' })
  await service.start()
})
afterAll(async () => {
  await service.stop()
  await stack.stop()
})

/** Sends the text. Returns everything received until the server closes the connection. */
function untilCutOff(sent: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(service.port, '127.0.0.1', () => socket.write(sent))
    let received = ''
    socket.on('data', (bytes: Buffer) => (received += bytes.toString('latin1')))
    socket.on('error', reject)
    socket.on('close', () => resolve(received))
  })
}

const head = 'POST /v1/sdk/products HTTP/1.1\r\nhost: localhost\r\n'

test.each([
  ['nothing', ''],
  ['half a head', head],
  ['half a body', `${head}content-type: application/json\r\ncontent-length: 100\r\n\r\n{"name":`],
])(
  'responds to a client that sends %s and then waits, and closes the connection',
  async (_, sent) => {
    const withKey = sent.replace('host:', `authorization: Bearer ${tenant.sandboxKey}\r\nhost:`)
    expect(await untilCutOff(withKey)).toMatch(/^HTTP\/1\.1 408 /)
  },
)
