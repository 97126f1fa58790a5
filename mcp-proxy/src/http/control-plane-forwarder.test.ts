import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { parseTrustedProxies } from '@tollgate/platform/service/trusted-proxies'
import { createLogger } from '@tollgate/platform/observability/logger'
import { afterEach, expect, test, vi } from 'vitest'
import type { ServedServer } from '../servers/served-server.ts'
import { ControlPlaneForwarder } from './control-plane-forwarder.ts'

const open: Server[] = []
afterEach(() => {
  for (const server of open.splice(0)) server.closeAllConnections()
})

async function listen(server: Server): Promise<number> {
  open.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

type Seen = { readonly request: IncomingMessage; readonly body: string }

/** Starts a control plane that records its requests, and a forwarder in front of it. */
async function start(respond = (_seen: Seen): string | undefined => 'answered') {
  const seen: Seen[] = []
  const controlPlane = await listen(
    createServer((request, response) => {
      void text(request).then((body) => {
        seen.push({ request, body })
        const answer = respond(seen.at(-1)!)
        if (answer === undefined) response.write('half', () => response.destroy())
        else response.end(answer)
      })
    }),
  )
  const logger = createLogger('mcp-proxy', 'silent')
  const trusted = parseTrustedProxies('')
  const origin = `http://127.0.0.1:${controlPlane}`
  const forwarder = new ControlPlaneForwarder(origin, 2_000, trusted, logger)
  const server = { environment: 'sandbox', subdomain: 'acme', issuer: 'https://acme.test/mcp' }
  const port = await listen(
    createServer((request, response) => {
      void forwarder.forward(request, response, server as ServedServer, request.url!)
    }),
  )
  return { seen, port, url: `http://127.0.0.1:${port}` }
}

/** Sends raw bytes and returns everything received until the connection ended. */
async function sendRaw(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write(bytes)
  return text(socket)
}

const smuggled = 'GET /inbox HTTP/1.1\r\nHost: localhost\r\n\r\n'
const chunk = `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`

test.each(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'PUT'])(
  'never reads an unexpected body (%s) as another request',
  async (method) => {
    const { seen, port, url } = await start()
    const head = `${method} /jwks HTTP/1.1\r\nHost: x\r\nConnection: close\r\n`
    await sendRaw(port, `${head}Transfer-Encoding: chunked\r\n\r\n${chunk}`)
    await sendRaw(port, `${head}Content-Length: ${smuggled.length}\r\n\r\n${smuggled}`)
    expect(await (await fetch(`${url}/next`)).text()).toBe('answered')
    const paths = seen.map(({ request, body }) => `${request.url} ${body}`)
    const below = '/oauth/sandbox/acme'
    expect(paths).toEqual([`${below}/jwks `, `${below}/jwks `, `${below}/next `])
  },
)

test('forwards a form completely, with its length and without hop-by-hop headers', async () => {
  const { seen, port } = await start()
  const head = 'POST /token HTTP/1.1\r\nHost: x\r\nConnection: close, X-Secret\r\nX-Secret: 1\r\n'
  const chunks = '5\r\ngrant\r\n6\r\n_type=\r\n0\r\n\r\n'
  await sendRaw(port, `${head}Transfer-Encoding: chunked\r\n\r\n${chunks}`)
  const [{ request, body }] = seen as [Seen]
  expect(body).toBe('grant_type=')
  expect(request.headers).toMatchObject({
    'content-length': '11',
    'x-forwarded-host': 'acme.test',
    'x-forwarded-proto': 'https',
  })
  expect(request.headers).not.toHaveProperty('x-secret')
  expect(request.headers).not.toHaveProperty('transfer-encoding')
})

test('opens no connection to the control plane for a client that sends slowly', async () => {
  const { port, url } = await start()
  const head = 'POST /token HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nslow'
  const sockets = Array.from({ length: 80 }, () => connect(port, '127.0.0.1'))
  for (const socket of sockets) socket.write(head)
  const answer = await fetch(`${url}/token`, { method: 'POST', body: 'a=b' })
  expect(await answer.text()).toBe('answered')
  for (const socket of sockets) socket.destroy()
})

test('refuses a body that is too large without forwarding any of it', async () => {
  const { seen, url } = await start()
  const answer = await fetch(`${url}/token`, { method: 'POST', body: 'x'.repeat(300_000) })
  expect(answer.status).toBe(413)
  expect(seen).toEqual([])
})

test("ends the response to the client when the control plane's response breaks off", async () => {
  const { url } = await start(() => undefined)
  await expect(fetch(`${url}/jwks`).then((answer) => answer.text())).rejects.toThrow()
  await vi.waitFor(() => expect(open).toHaveLength(2))
})
