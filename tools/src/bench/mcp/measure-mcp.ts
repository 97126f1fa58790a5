import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { fetchAgentToken } from '../../client/agent-token.ts'
import { createTollgateClient, type TollgateClient } from '@tollgate/deploy/client/tollgate-client'
import { measuredCap } from '../../client/measured-product.ts'
import type { Instance } from '../../instance/instance.ts'
import { mediansOf } from '../../load/statistics.ts'
import { runPacedLoad, type PacedLoad, type PacedResult } from './paced-load.ts'

export type McpOptions = {
  readonly seconds: number
  readonly repeats: number
  readonly clients: number
  /** Calls per second of each client. */
  readonly callsPerSecond: number
  /** Stops the log, and returns a function that starts it again. If absent, the loss of the log is not measured. */
  readonly stopLog?: () => () => void
}

export type McpStage = {
  readonly name: string
  readonly bare: PacedResult
  readonly ours: PacedResult
  /**
   * Milliseconds that the proxy adds, for each repeat. Both loads ran in the same seconds, so other work on the machine affected
   * both.
   */
  readonly addedP50Ms: readonly number[]
  readonly addedP99Ms: readonly number[]
}

export type McpResult = {
  readonly clients: number
  readonly callsPerSecond: number
  readonly stages: readonly McpStage[]
}

const version = '2026-07-28'
const meta = 'io.modelcontextprotocol'
const body = JSON.stringify({
  ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
  params: {
    ...{ name: 'measured', arguments: { text: 'x'.repeat(100) } },
    _meta: {
      [`${meta}/protocolVersion`]: version,
      [`${meta}/clientCapabilities`]: {},
      [`${meta}/clientInfo`]: { name: 'bench', version: '1' },
    },
  },
})
const requestHeaders = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': version,
  'mcp-method': 'tools/call',
  'mcp-name': 'measured',
}

/**
 * Measures what the proxy adds to a metered tool call, next to a proxy that only forwards bytes. The call includes token, plan,
 * limit, hold and record.
 */
export async function measureMcp(
  instance: Instance,
  options: McpOptions,
  print: (line: string) => void,
): Promise<McpResult> {
  const { baseUrl, sandboxKey: key } = instance.credentials
  const client = createTollgateClient({ baseUrl, key, connectionsMax: 16, timeoutMs: 60_000 })
  const origin = await startChild('origin')
  const bare = await startChild('bare-proxy', urlOf(origin))
  try {
    const { proxyUrl, productRef } = await createMeasuredServer(
      client,
      `http://localhost:${origin.port}/mcp`,
    )
    const tokens = await fetchTokens(client, productRef, options.clients)
    const headers = tokens.map((token) => ({ ...requestHeaders, authorization: `Bearer ${token}` }))
    const { seconds, callsPerSecond } = options
    const load = { headers, body, seconds, callsPerSecond }
    const measure = (name: string): Promise<McpStage> => {
      print(`measuring ${name} ...`)
      return compare(name, { ...load, urls: [urlOf(bare), proxyUrl] }, options.repeats)
    }
    // The first calls of a customer create the purchase and fill caches, so they are not measured.
    await runPacedLoad({ ...load, urls: [proxyUrl], seconds: 2 })
    const stages = [await measure('all parts running')]
    if (options.stopLog !== undefined) {
      const startLog = options.stopLog()
      try {
        stages.push(await measure('event log down'))
      } finally {
        startLog()
      }
    }
    return { clients: options.clients, callsPerSecond, stages }
  } finally {
    client.close()
    bare.stop()
    origin.stop()
  }
}

type Child = { readonly port: number; stop(): void }

/** Starts a server in its own process, by the folder of its `main.ts`. It ends with this process. */
async function startChild(
  folder: 'origin' | 'bare-proxy',
  ...values: readonly string[]
): Promise<Child> {
  const program = fileURLToPath(
    new URL(`../../../dist/bench/mcp/${folder}/main.js`, import.meta.url),
  )
  const child = fork(program, values)
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  return { port, stop: () => child.disconnect() }
}

/** Returns the URL with an IP address, because a name lookup would count as part of the call. */
function urlOf({ port }: Child): string {
  return `http://127.0.0.1:${port}/mcp`
}

async function createMeasuredServer(
  client: TollgateClient,
  originUrl: string,
): Promise<{ readonly proxyUrl: string; readonly productRef: string }> {
  const made = (await client.require('POST', '/v1/sdk/products/mcp/bootstrap', {
    ...{ originUrl, name: `Measured ${Date.now().toString(36)}` },
    plans: [{ key: 'free', name: 'Free', price: 0, currency: 'USD', limit: measuredCap }],
    tools: [{ name: 'measured', planKeys: ['free'] }],
  })) as { mcpServer: { mcpProxyUrl: string }; product: { reference: string } }
  return { proxyUrl: made.mcpServer.mcpProxyUrl, productRef: made.product.reference }
}

async function fetchTokens(
  client: TollgateClient,
  productRef: string,
  count: number,
): Promise<string[]> {
  const run = Date.now().toString(36)
  const tokens: string[] = []
  for (let number = 0; number < count; number++) {
    const email = `mcp-${run}-${number}@measured.example`
    const { reference: customerRef } = await client.createCustomer({ email })
    tokens.push(await fetchAgentToken(client, { customerRef, productRef }))
  }
  return tokens
}

/** Runs both loads in the same seconds, so that other work on the machine affects both. Returns the medians of the repeats. */
async function compare(name: string, load: PacedLoad, repeats: number): Promise<McpStage> {
  const results = { bare: [] as PacedResult[], ours: [] as PacedResult[] }
  for (let repeat = 0; repeat < repeats; repeat++) {
    const [bare, ours] = await runPacedLoad(load)
    if (bare !== undefined) results.bare.push(bare)
    if (ours !== undefined) results.ours.push(ours)
  }
  const added = (pick: (result: PacedResult) => number): number[] =>
    results.ours.map((ours, repeat) => pick(ours) - pick(results.bare[repeat]!))
  return {
    ...{ name, bare: medians(results.bare), ours: medians(results.ours) },
    addedP50Ms: added(({ p50Ms }) => p50Ms),
    addedP99Ms: added(({ p99Ms }) => p99Ms),
  }
}

function medians(results: readonly PacedResult[]): PacedResult {
  return {
    ...mediansOf(results, ['p50Ms', 'p99Ms']),
    calls: results.reduce((sum, { calls }) => sum + calls, 0),
    errors: results.reduce((sum, { errors }) => sum + errors, 0),
  }
}
