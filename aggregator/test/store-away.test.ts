import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createLogger } from '@tollgate/platform/observability/logger'
import { readAggregatorConfig } from '../src/config.ts'
import { createAggregator, type Aggregator } from '../src/service.ts'
import { untilCounted } from './expected-usage.ts'
import { EventGenerator } from './generated-events.ts'
import { createInstallation, type Installation } from './installation.ts'

let installation: Installation
let aggregator: Aggregator | undefined

beforeEach(async () => {
  installation = await createInstallation()
})

afterEach(async () => {
  await aggregator?.stop()
  await installation.remove()
})

/** Returns an address at which no server listens. */
async function closedUrl(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return `http://127.0.0.1:${port}`
}

it('counts while ClickHouse is away, fails readiness and stays live', async () => {
  const generator = new EventGenerator(1, 20, Date.now())
  await installation.appendEvents(generator.take(500))
  const config = readAggregatorConfig({
    TOLLGATE_DATA_DIR: installation.dataDir,
    TOLLGATE_CLICKHOUSE_URL: await closedUrl(),
    TOLLGATE_OBSERVE_INTERVAL_MS: '20',
    TOLLGATE_STUCK_AFTER_MS: '100',
  })
  const { log, hotState } = installation
  aggregator = createAggregator(config, {
    eventLog: log,
    hotState,
    logger: createLogger('aggregator', 'silent'),
  })
  await aggregator.start()
  await untilCounted(log, hotState, 20_000)

  const base = `http://127.0.0.1:${aggregator.adminPort}`
  const isStuck = /sink of tollgate\.usage\.sandbox\/0 stands at 0, \d+ records behind/
  await expect.poll(() => textOf(`${base}/health/ready`)).toMatch(isStuck)
  const ready = await fetch(`${base}/health/ready`)
  expect(ready.status).toBe(503)
  expect(await ready.text()).toContain('ClickHouse did not answer')
  expect((await fetch(`${base}/health/live`)).status).toBe(200)
  const metrics = await textOf(`${base}/metrics`)
  expect(metrics).toMatch(/tollgate_projection_records_total{.*result="counted".*} [1-9]/)
  expect(metrics).toMatch(/tollgate_projection_lag_records{.*projection="sink".*} [1-9]/)
})

async function textOf(url: string): Promise<string> {
  return await (await fetch(url)).text()
}
