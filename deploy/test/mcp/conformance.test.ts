import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startAuthorizingFront } from '../../../mcp-proxy/test/conformance/authorizing-front.ts'
import {
  describeResults,
  failuresIn,
  listDifferences,
} from '../../../mcp-proxy/test/conformance/compare-results.ts'
import {
  findNode22,
  runSuite,
  type CaseResult,
} from '../../../mcp-proxy/test/conformance/run-suite.ts'
import { beyondTheSdk, suites, type Suite } from '../../../mcp-proxy/test/conformance/suites.ts'
import { startFixtureOrigin } from '../../../mcp-proxy/test/fixture-origin/start-fixture-origin.ts'
import { startEverything } from '../../../mcp-proxy/test/start-everything.ts'
import { startMcpStack, type McpStack } from './mcp-stack.ts'

/** `npm run test:mcp-conformance` runs all suites, also directly against the origins, and prints the scenarios. */
const isWhole = process.env['TOLLGATE_TEST_MCP_CONFORMANCE'] === 'whole'

type Results = ReadonlyMap<string, CaseResult>

let node: string
let stack: McpStack

beforeAll(async () => {
  ;[node, stack] = await Promise.all([findNode22(), startMcpStack()])
})
afterAll(() => stack.stop())

/** Runs the suite as a customer whose calls are admitted and counted. */
async function runThroughProxy(suite: Suite, originUrl: string): Promise<Results> {
  const server = await stack.serve(originUrl)
  const token = await stack.tokenOf(server, await stack.createCustomer())
  const front = await startAuthorizingFront(server.proxyUrl, token)
  return runSuite(node, suite, front.url).finally(() => front.stop())
}

describe.skipIf(isWhole)('the official conformance suite', () => {
  it.concurrent.each(suites.slice(1))('passes through the proxy: $name', async (suite) => {
    const origin = await startFixtureOrigin()
    const results = await runThroughProxy(suite, origin.url).finally(() => origin.stop())
    expect(failuresIn(results, beyondTheSdk)).toEqual({})
    expect(results.size).toBeGreaterThan(30)
  })
})

describe.runIf(isWhole)('the complete official conformance suite', () => {
  it.each(suites)('passes directly and through the proxy: $name', async (suite) => {
    const origin = await startFixtureOrigin()
    onTestFinished(() => origin.stop())
    const direct = await runSuite(node, suite, origin.url)
    const proxied = await runThroughProxy(suite, origin.url)
    console.log(describeResults(`Fixture origin, ${suite.name}`, direct, proxied))
    expect(failuresIn(direct, beyondTheSdk)).toEqual({})
    expect(listDifferences(direct, proxied)).toEqual([])
  })

  // The example server only supports the versions with sessions.
  it.each(suites.slice(0, 2))(
    'finds no additional failure of the example server through the proxy: $name',
    async (suite) => {
      const origin = await startEverything()
      onTestFinished(() => origin.stop())
      const direct = await runSuite(node, suite, origin.url)
      const proxied = await runThroughProxy(suite, origin.url)
      console.log(describeResults(`Example server, ${suite.name}`, direct, proxied))
      const known = new Set(
        [...direct].filter(([, { verdict }]) => verdict === 'failed').map(([name]) => name),
      )
      expect(failuresIn(proxied, known)).toEqual({})
    },
  )
})
