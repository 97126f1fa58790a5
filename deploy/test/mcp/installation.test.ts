import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '@tollgate/platform/testing/free-ports'
import type { McpBootstrappedBody } from '@tollgate/schemas/http/mcp'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  startFixtureOrigin,
  type FixtureOrigin,
} from '../../../mcp-proxy/test/fixture-origin/start-fixture-origin.ts'
import { InstallationUnderTest } from '../../../tools/src/chaos/installation-under-test.ts'
import { createSeededRandom } from '../../../tools/src/client/seeded-random.ts'
import { createTollgateClient, type TollgateClient } from '../../src/client/tollgate-client.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../../src/standalone/temporary-folder.ts'
import { fetchAgentToken } from '../../../tools/src/client/agent-token.ts'
import { startDocumentHost, type DocumentHost } from './document-host.ts'
import { connect } from './official-clients.ts'
import { readInboxCode, signInByForms } from './sign-in.ts'
import { TestOAuthProvider } from './test-oauth-provider.ts'
import { runLane, type CallLedger } from './call-lane.ts'

/** `npm run test:mcp` makes 10,000 calls and 60 kills. */
const callsWanted = Number(process.env['TOLLGATE_TEST_MCP_CALLS'] ?? 400)
const killsWanted = Number(process.env['TOLLGATE_TEST_MCP_KILLS'] ?? 3)
const customerCount = 4
const lanesPerCustomer = 4
const cap = 1_000_000
const killPauseMs = { min: 700, max: 2_500 }
const killable = ['mcp-proxy', 'ingest', 'aggregator-counters', 'mcp-proxy', 'aggregator-sink']

let folder: TemporaryFolder
let origin: FixtureOrigin
let installation: InstallationUnderTest
let client: TollgateClient
let documents: DocumentHost

beforeAll(async () => {
  ;[folder, origin] = await Promise.all([makeTemporaryFolder('mcp-exact'), startFixtureOrigin()])
  documents = await startDocumentHost(folder.path)
  installation = await InstallationUnderTest.start({
    dataDir: folder.path,
    port: await freePort(),
    environment: {
      ...process.env,
      TOLLGATE_MCP_PORT: String(await freePort()),
      TOLLGATE_OUTBOUND_SANDBOX_ALLOWED: '127.0.0.1',
      TOLLGATE_CUSTOMER_AUTH_ACCESS_MINUTES: '240',
      NODE_EXTRA_CA_CERTS: documents.authorityFile,
    },
  })
  const { baseUrl, sandboxKey: key } = installation.credentials
  client = createTollgateClient({ baseUrl, key, connectionsMax: 8, timeoutMs: 15_000 })
})
afterAll(async () => {
  client.close()
  await installation.end()
  await Promise.all([origin.stop(), documents.stop()])
  await folder.remove()
})

async function createLedger(productRef: string, at: number): Promise<CallLedger> {
  const { reference } = await client.createCustomer({ email: `exact${at}@customers.test` })
  const token = await fetchAgentToken(client, { customerRef: reference, productRef })
  return {
    customerRef: reference,
    token,
    answered: 0,
    answeredFailed: 0,
    broken: 0,
    unreached: 0,
    refused: 0,
  }
}

/** Kills the services one after the other with SIGKILL while calls are made. The supervisor starts them again. */
async function killServices(random: ReturnType<typeof createSeededRandom>, isOver: () => boolean) {
  for (let kill = 0; kill < killsWanted && !isOver(); kill += 1) {
    await sleep(random.integer(killPauseMs.min, killPauseMs.max))
    await installation.killService(killable[kill % killable.length]!).catch(() => undefined)
  }
}

type Sums = { readonly counted: number; readonly stored: number; readonly failed: number }

async function readSums(productRef: string, { customerRef }: CallLedger): Promise<Sums> {
  const meterRef = await client.requestsMeter()
  const [from, to] = [-3_600_000, 3_600_000].map((ms) => new Date(Date.now() + ms).toISOString())
  const range = { customerRef, from: from!, to: to! }
  const [limit, stored, failed] = await Promise.all([
    client.checkLimit(customerRef, productRef),
    client.meterUsage(meterRef, { ...range, outcome: 'success' }),
    client.meterUsage(meterRef, { ...range, outcome: 'fail' }),
  ])
  return { counted: cap - limit.remaining, stored: stored.count, failed: failed.count }
}

/** Waits until 3 readings, 1 second apart, are equal, so that no more records are being delivered. */
async function readSettledSums(productRef: string, ledgers: readonly CallLedger[]) {
  const readings: string[] = []
  for (let second = 0; second < 90; second += 1) {
    const sums = await Promise.all(ledgers.map((each) => readSums(productRef, each))).catch(
      () => undefined,
    )
    readings.push(sums === undefined ? String(second) : JSON.stringify(sums))
    const last = readings.slice(-3)
    if (sums !== undefined && last.length === 3 && new Set(last).size === 1) return sums
    await sleep(1_000)
  }
  throw new Error(`The sums do not settle: ${readings.slice(-3).join(' ')}`)
}

test('lets a client sign in by its metadata document', async () => {
  const plan = { key: 'free', name: 'Free', price: 0, currency: 'USD' }
  const { mcpServer } = (await client.require('POST', '/v1/sdk/products/mcp/bootstrap', {
    originUrl: origin.url,
    name: 'Documents',
    plans: [plan],
  })) as McpBootstrappedBody
  const provider = new TestOAuthProvider({ documentUrl: documents.url })
  documents.content = {
    ...provider.clientMetadata,
    client_id: documents.url,
    token_endpoint_auth_method: 'none',
  }
  const { baseUrl } = installation.credentials
  const connected = await connect('client that negotiates', {
    url: mcpServer.mcpProxyUrl,
    provider,
    signIn: (url) => {
      expect(url.searchParams.get('client_id')).toBe(documents.url)
      return signInByForms(url, {
        email: 'documents@customers.test',
        redirectUrl: provider.redirectUrl,
        readCode: (email) => readInboxCode(baseUrl, email),
      })
    },
  })
  const { content } = await connected.callTool('test_simple_text')
  expect(content[0]!.text).toContain('simple text')
  await connected.close()
})

test(
  'records each answered call once, and only calls in flight besides, while services are killed',
  { timeout: 1_800_000 },
  async () => {
    const seed = Date.now() % 2 ** 32
    const plan = { key: 'free', name: 'Free', price: 0, currency: 'USD', limit: cap }
    const { product, mcpServer } = (await client.require('POST', '/v1/sdk/products/mcp/bootstrap', {
      originUrl: origin.url,
      name: 'Exactness',
      plans: [plan],
    })) as McpBootstrappedBody
    const ledgers = await Promise.all(
      Array.from({ length: customerCount }, (_, at) => createLedger(product.reference, at)),
    )
    let isOver = false
    const killing = killServices(createSeededRandom(seed), () => isOver)
    const begunAt = performance.now()
    await Promise.all(
      ledgers.flatMap((ledger, at) =>
        Array.from({ length: lanesPerCustomer }, () =>
          runLane({
            proxyUrl: mcpServer.mcpProxyUrl,
            ledger,
            calls: Math.ceil(callsWanted / customerCount / lanesPerCustomer),
            // The clients of every second customer repeat unanswered calls.
            hasKeys: at % 2 === 1,
          }),
        ),
      ),
    )
    const seconds = (performance.now() - begunAt) / 1_000
    isOver = true
    await killing
    const sums = await readSettledSums(product.reference, ledgers)
    console.log(describe(ledgers, sums, seconds))

    for (const [at, ledger] of ledgers.entries()) {
      const { counted, stored, failed } = sums[at]!
      const what = `customer ${at}, seed ${seed}`
      expect(stored, `${what}: stored as counted`).toBe(counted)
      expect(stored, `${what}: each answer`).toBeGreaterThanOrEqual(ledger.answered)
      expect(failed, `${what}: each failure`).toBeGreaterThanOrEqual(ledger.answeredFailed)
      // With keys there is no doubt, because every call was answered in the end.
      if (at % 2 === 1) expect(stored, `${what}: nothing twice`).toBe(ledger.answered)
      const surplus = stored - ledger.answered
      expect(surplus, `${what}: in flight`).toBeLessThanOrEqual(ledger.broken)
      const received = origin.calls.filter(
        (call) => call.arguments['customer'] === ledger.customerRef,
      )
      expect(stored + failed, `${what}: work of the origin`).toBeLessThanOrEqual(received.length)
    }
  },
)

function describe(ledgers: readonly CallLedger[], sums: readonly Sums[], seconds: number): string {
  const kills = [...installation.kills].map(([name, count]) => `${name} ${count}`).join(', ')
  const lines = ledgers.map((ledger, at) => {
    const { answered, answeredFailed, broken, unreached, refused } = ledger
    const { counted, stored, failed } = sums[at]!
    const keys = at % 2 === 1 ? 'with keys' : 'without keys'
    return (
      `  customer ${at} ${keys}: answered ${answered}, recorded ${stored}, billed ${counted}; ` +
      `failed ${answeredFailed}, recorded ${failed}; broken ${broken}, unreached ${unreached}, refused ${refused}`
    )
  })
  const received = origin.calls.length
  return [
    `${callsWanted} calls in ${seconds.toFixed(0)} s, ${received} at the origin; kills: ${kills}`,
    ...lines,
  ].join('\n')
}
