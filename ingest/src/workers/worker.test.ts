import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunningPart } from '@tollgate/platform/processes/supervise'
import { runHealthChecks, type HealthReport } from '@tollgate/platform/service/health'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { healthTimeoutMs, Worker } from './worker.ts'
import { workersHealth } from './workers-health.ts'

let folder: string
let running: RunningPart | undefined
const onLate = vi.fn()

beforeEach(async () => {
  onLate.mockClear()
  folder = await mkdtemp(join(tmpdir(), 'tollgate-worker-'))
})

afterEach(async () => {
  await running?.stop()
  await rm(folder, { recursive: true })
})

/** Starts a worker whose readiness takes this long to answer. `more` is further code of its process. */
async function startWorker(answerMs: number, report: HealthReport, more = ''): Promise<Worker> {
  const entry = join(folder, 'worker.mjs')
  await writeFile(
    entry,
    `import { createServer } from 'node:http'
    ${more}
    const server = createServer((request, response) => {
      const delayMs = request.url === '/health/ready' ? ${answerMs} : 0
      setTimeout(() => response.end('${JSON.stringify(report)}'), delayMs)
    })
    server.listen(0, '127.0.0.1', () => process.send({ ready: true, adminPort: server.address().port }))`,
  )
  const worker = new Worker({
    number: 1,
    entry,
    environment: {},
    silenceMaxMs: 60_000,
    endTimeoutMs: 1_000,
    onHung: () => undefined,
    onLate,
  })
  running = await worker.launch(new AbortController().signal)
  return worker
}

test.each([
  ['degraded', { 'hot-state-replicas': 'no answer within 2000 ms' }],
  ['failing', { 'event-log': 'no answer within 2000 ms' }],
] as const)('waits for checks of a worker that time out: %s', async (status, checks) => {
  const worker = await startWorker(2_000, { status, checks })
  const report = await runHealthChecks(workersHealth([worker]), healthTimeoutMs)
  expect(report.status).toBe(status)
  expect(JSON.stringify(report.checks)).toContain('no answer within 2000 ms')
})

test.each([
  ['is reported if it does not end in time', `process.on('SIGTERM', () => undefined)`, 1],
  ['is not reported if it ends', '', 0],
] as const)('a worker that is stopped %s', async (_, more, times) => {
  await startWorker(0, { status: 'ok', checks: {} }, more)
  await running!.stop()
  expect(onLate).toHaveBeenCalledTimes(times)
})
