import { openSync, writeSync } from 'node:fs'
import { openGate } from '@tollgate/mcp-proxy/gate/open-gate'
import { gateSettings } from '@tollgate/mcp-proxy/gate/gate-settings'
import { readSettings } from '@tollgate/platform/config/settings'
import { createLogger } from '@tollgate/platform/observability/logger'
import { createMetrics } from '@tollgate/platform/observability/metrics'
import { setTimeout as sleep } from 'node:timers/promises'
import type { GatedCall } from '@tollgate/mcp-proxy/gate/gate'

/*
 * Admits and settles calls until it is killed. For each call it writes a line to a file: `begun`, and `settled` when its answer
 * could end. A pipe to the parent would block while the parent is busy. On a stop message on standard input, it delivers the
 * remaining records.
 */
const given = process.argv.slice(2) as [string, string, string, string, string, string, string]
const [ingestUrl, serviceSecret, dataDir, providerId, productRef, nowText, path] = given
const nowMs = Number(nowText)
const said = openSync(path, 'a')
const opened = await openGate({
  ingestUrl,
  controlPlaneUrl: ingestUrl,
  serviceSecret,
  dataDir,
  limits: readSettings(gateSettings, {
    TOLLGATE_MCP_LIMITS_UNKNOWN: 'allow',
    TOLLGATE_MCP_LIMITS_TIMEOUT_MS: '300',
    TOLLGATE_MCP_JOURNAL_STOP_GRACE_MS: '30000',
  }),
  clock: { now: () => nowMs },
  logger: createLogger('mcp-proxy', 'silent'),
  metrics: createMetrics('mcp-proxy'),
})
const server: GatedCall['server'] = {
  ...{ environment: 'sandbox', providerId, productRef, reference: 'mcp_1', subdomain: 'test' },
  ...{ productName: 'Search', plans: [] },
  ...{
    proxyUrl: 'http://127.0.0.1/mcp',
    issuer: 'http://127.0.0.1',
    originUrl: 'http://127.0.0.1:9',
  },
  originHeaders: {},
  tools: new Map([['search', { access: 'every-plan', planRefs: [] }]]),
  defaultPlanRef: undefined,
}
let isStopping = false
process.stdin.once('data', () => {
  isStopping = true
})

async function callUntilStopped(caller: number): Promise<void> {
  for (let number = 0; !isStopping; number++) {
    const callId = `${process.pid}/${caller}/${number}`
    writeSync(said, `begun ${callId}\n`)
    const admission = await opened.gate.admit({
      ...{
        server,
        customerRef: `user-${1 + (caller % 3)}`,
        toolName: 'search',
        callId,
      },
      clientKey: undefined,
      client: { era: 'sessions', opensUrls: false, showsApps: false },
    })
    if (admission.kind !== 'admitted') throw new Error(admission.kind)
    const outcome = number % 5 === 0 ? ('fail' as const) : ('success' as const)
    admission.settle({ outcome, durationMs: number })
    writeSync(said, `settled ${callId} ${outcome}\n`)
    await sleep(Math.random() * 4)
  }
}

await Promise.all(Array.from({ length: 8 }, (_, caller) => callUntilStopped(caller)))
await opened.stop()
process.exit(0)
