import { runHealthChecks, type HealthReport } from '@tollgate/platform/service/health'
import { expect, test } from 'vitest'
import { workersHealth, type CheckedWorker } from './workers-health.ts'

const ok: HealthReport = { status: 'ok', checks: { 'event-log': 'ok' } }
const degraded: HealthReport = { status: 'degraded', checks: { 'hot-state-replicas': 'too few' } }
const failing: HealthReport = { status: 'failing', checks: { 'event-log': 'no leader' } }

function workerOf(number: number, report: HealthReport | 'ended' | 'hangs'): CheckedWorker {
  return {
    name: `ingest worker ${number}`,
    isRunning: report !== 'ended',
    readHealth: async () => {
      if (typeof report === 'string') throw new Error('no answer')
      return report
    },
  }
}

test.each([
  ['ok', [ok, ok], 'ok'],
  ['degraded', [ok, degraded], 'ingest worker 2: hot-state-replicas: too few'],
  ['degraded', [ok, 'ended'], 'ingest worker 2: it does not run'],
  ['failing', ['ended', 'ended'], 'workers: no worker runs'],
  ['failing', [ok, failing], 'workers: not ready: ingest worker 2'],
  ['failing', [ok, 'hangs'], 'workers: not ready: ingest worker 2'],
] as const)('is %s with workers that report %j', async (status, reports, reason) => {
  const workers = reports.map((report, index) => workerOf(index + 1, report))
  const report = await runHealthChecks(workersHealth(workers), 1_000)
  expect(report.status).toBe(status)
  const reasons = Object.entries(report.checks).map(([name, outcome]) => `${name}: ${outcome}`)
  expect(reasons.join('\n')).toContain(reason)
})
