import { createSocket } from 'node:dgram'
import { createServer } from 'node:http'
import { isIP, type AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { parseAllowList } from '../src/outbound/allow-list.ts'
import { GuardedHttp } from '../src/outbound/guarded-http.ts'
import type { OutboundPost } from '../src/outbound/post.ts'
import { resolveByDns } from '../src/outbound/resolve.ts'
import { openDnsServer } from './dns-server.ts'
import { specialAddresses } from './special-addresses.ts'

/** A server on this machine, which no request of these tests may reach. */
const home = createServer((_request, response) => response.end('secret'))
let homePort: number
let homeConnections = 0

/** The server behind names that may be reached. */
const outside = createServer((_request, response) => response.end('fine'))

const closing: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  home.on('connection', () => (homeConnections += 1))
  await new Promise<void>((resolve) => home.listen(0, '127.0.0.1', resolve))
  homePort = (home.address() as AddressInfo).port
})

afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

afterAll(() => home.close())

async function post(url: string, addressesOf: (name: string) => readonly string[] = () => []) {
  const { send, server } = await sending(addressesOf)
  return { outcome: await send(url), asked: server.asked }
}

const limits = {
  ports: [443],
  isPlainHttpAllowed: true,
  connectTimeoutMs: 5_000,
  timeoutMs: 10_000,
  answerBytesMax: 1,
  connectionsPerOriginMax: 1,
}

function to(url: string): OutboundPost {
  return {
    url,
    headers: {},
    body: Buffer.from('{}'),
    answerBytesMax: 100,
  }
}

/** The port of the server on this machine is an allowed port. */
async function sending(addressesOf: (name: string) => readonly string[], allowed = '') {
  const server = await openDnsServer(addressesOf)
  const http = new GuardedHttp({
    ...limits,
    allowed: parseAllowList(allowed),
    ports: [443, homePort],
    resolve: resolveByDns([server.address]),
  })
  closing.push(() => http.close(), server.close)
  return { send: (url: string) => http.post(to(url)), server }
}

const refused = expect.objectContaining({
  failure: 'refused',
  trip: expect.objectContaining({ address: null, connectMs: null }) as unknown,
}) as unknown

test.each(specialAddresses)('does not reach %s', async (address) => {
  const host = isIP(address) === 6 ? `[${address}]` : address
  const { outcome } = await post(`https://${host}:${homePort}/`)
  expect([outcome, homeConnections]).toEqual([refused, 0])
})

test.each(specialAddresses)('does not follow a name that resolves to %s', async (address) => {
  const { outcome, asked } = await post(`https://hooks.example:${homePort}/`, () => [address])
  expect([outcome, homeConnections]).toEqual([refused, 0])
  expect(asked).toEqual(['hooks.example', 'hooks.example'])
})

test.each([
  '127.1',
  '127.0.0.1.',
  '0177.0.0.1',
  '017700000001',
  '0x7f000001',
  '0x7f.1',
  '2130706433',
  '0',
  '0.0.0.0',
  '１２７.0.0.1',
  '①②⑦.⓪.⓪.①',
  '%31%32%37.0.0.1',
  '127。0。0。1',
  '[::]',
  '[0:0:0:0:0:ffff:7f00:1]',
  '[::ffff:127.0.0.1]',
  'localhost',
  'LOCALHOST',
  'localhost.',
  'db.localhost',
  'user:password@hooks.example',
  'hooks.example@127.0.0.1',
])('refuses https://%s, another spelling of a private address', async (host) => {
  const { outcome, asked } = await post(`https://${host}:${homePort}/`, () => ['127.0.0.1'])
  expect([outcome, homeConnections]).toEqual([refused, 0])
  expect(asked).toEqual([])
})

test.each([
  ['of both kinds', ['93.184.216.34', '::1']],
  ['of which one is in a private network', ['93.184.216.34', '10.0.0.1']],
  ['of which the last is private', ['93.184.216.34', '93.184.216.35', '169.254.169.254']],
])('does not follow a name with addresses %s', async (_what, addresses) => {
  const { outcome } = await post(`https://hooks.example:${homePort}/`, () => addresses)
  expect([outcome, homeConnections]).toEqual([refused, 0])
})

test('refuses a host that resolves to this machine after the first lookup (DNS rebinding)', async () => {
  await new Promise<void>((resolve) => outside.listen(homePort, '127.0.0.2', resolve))
  closing.push(() => new Promise((resolve) => outside.close(resolve)))
  let questions = 0
  const rebinding = () => {
    questions += 1
    // Both kinds of address are queried at once.
    return questions <= 2 ? ['127.0.0.2'] : ['127.0.0.1', '::1']
  }
  const { send } = await sending(rebinding, '127.0.0.2')
  // The other server does not speak TLS, and that error shows that it was reached.
  expect(await send(`https://hooks.example:${homePort}/`)).toMatchObject({ failure: 'tls' })
  for (let attempt = 0; attempt < 20; attempt += 1) {
    expect(await send(`https://hooks.example:${homePort}/`)).toEqual(refused)
  }
  expect(homeConnections).toBe(0)
})

test('reports a name without an address', async () => {
  const { outcome } = await post('https://nowhere.example/')
  expect(outcome).toMatchObject({ failure: 'unresolved', trip: { address: null } })
})

test('waits for a name server that never answers no longer than for a server', async () => {
  const silent = createSocket('udp4')
  await new Promise<void>((resolve) => silent.bind(0, '127.0.0.1', resolve))
  const http = new GuardedHttp({
    ...limits,
    allowed: parseAllowList(''),
    connectTimeoutMs: 200,
    resolve: resolveByDns([`127.0.0.1:${silent.address().port}`]),
  })
  closing.push(
    () => http.close(),
    () => new Promise<void>((resolve) => silent.close(resolve)),
  )
  expect(await http.post(to('https://hooks.example/'))).toMatchObject({ failure: 'timeout' })
})

test.each([22, 80, 6379, 8443])('does not reach port %d', async (port) => {
  const { outcome, asked } = await post(`https://hooks.example:${port}/`, () => ['93.184.216.34'])
  expect(outcome).toEqual(refused)
  expect(asked).toEqual([])
})
