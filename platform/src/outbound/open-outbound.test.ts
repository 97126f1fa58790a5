import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { readSettings } from '../config/settings.ts'
import { createLogger } from '../observability/logger.ts'
import { openOutbound, type Outbound } from './open-outbound.ts'
import { outboundSettings } from './outbound-settings.ts'

const closing: (() => unknown)[] = []

afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

function opened(environment: Record<string, string> = {}): Outbound {
  const config = readSettings(outboundSettings, environment)
  const outbound = openOutbound(config, 1_000, createLogger('test', 'silent'))
  closing.push(() => outbound.close())
  return outbound
}

/** Returns the result of the URL check in each environment. */
function judged(outbound: Outbound, url: string): Record<'sandbox' | 'live', string> {
  const said = (environment: 'sandbox' | 'live'): string => {
    const judgement = outbound.of(environment).judge(url)
    return judgement.kind === 'accepted' ? 'accepted' : judgement.reason
  }
  return { sandbox: said('sandbox'), live: said('live') }
}

test('refuses in live what is allowed for sandbox only', () => {
  const outbound = opened({ TOLLGATE_OUTBOUND_SANDBOX_ALLOWED: 'localhost' })
  expect(judged(outbound, 'http://localhost:3000/hooks')).toEqual({
    sandbox: 'accepted',
    live: 'must begin with https://',
  })
  expect(judged(outbound, 'https://localhost:3000/hooks')).toEqual({
    sandbox: 'accepted',
    live: 'must use port 443',
  })
  expect(judged(outbound, 'https://localhost/hooks')).toEqual({
    sandbox: 'accepted',
    live: 'is not a public address',
  })
})

test('allows a shared entry in both environments, in live only with TLS', () => {
  const outbound = opened({
    TOLLGATE_OUTBOUND_ALLOWED: '10.1.0.0/16',
    TOLLGATE_OUTBOUND_SANDBOX_ALLOWED: 'localhost',
  })
  const both = { sandbox: 'accepted', live: 'accepted' }
  expect(judged(outbound, 'https://10.1.2.3:8443/')).toEqual(both)
  expect(judged(outbound, 'http://10.1.2.3:8443/')).toEqual({
    sandbox: 'accepted',
    live: 'must begin with https://',
  })
  expect(judged(outbound, 'http://localhost/').sandbox).toBe('accepted')
})

test('refuses the local machine by default', () => {
  expect(judged(opened(), 'http://localhost:3000/')).toEqual({
    sandbox: 'must begin with https://',
    live: 'must begin with https://',
  })
})

test('reaches the local machine for sandbox only, and only by the allowed name', async () => {
  let connections = 0
  const server = createServer((_request, response) => response.end('here'))
  server.on('connection', () => (connections += 1))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => server.closeAllConnections(), server.close.bind(server))
  const { port } = server.address() as AddressInfo
  const outbound = opened({ TOLLGATE_OUTBOUND_SANDBOX_ALLOWED: 'localhost' })
  const post = (environment: 'sandbox' | 'live', url: string) =>
    outbound
      .of(environment)
      .post({ url, headers: {}, body: Buffer.from('{}'), answerBytesMax: 1_000 })
  expect(await post('sandbox', `http://localhost:${port}/`)).toMatchObject({ status: 200 })
  expect(connections).toBe(1)
  for (const [environment, url] of [
    ['live', `http://localhost:${port}/`],
    ['live', `https://localhost:${port}/`],
    ['sandbox', `http://127.0.0.1:${port}/`],
    ['sandbox', `http://a.localhost:${port}/`],
  ] as const) {
    expect(await post(environment, url)).toMatchObject({ failure: 'refused' })
  }
  expect(connections).toBe(1)
})
