import { expect, test } from 'vitest'
import { readIngestConfig } from '../config.ts'
import { canSharePorts } from '../http/node-front.ts'
import { requireShareable } from './require-shareable.ts'
import { readWorkerNumber, workerParameters } from './worker-number.ts'

const engines = { TOLLGATE_EVENT_LOG: 'kafka', TOLLGATE_HOT_STATE: 'redis' }

function check(
  environment: Readonly<Record<string, string>>,
  platform: NodeJS.Platform = 'linux',
): void {
  const needed = { TOLLGATE_CONTROL_PLANE_URL: 'http://127.0.0.1:1' }
  requireShareable(readIngestConfig({ ...needed, ...environment }), platform)
}

test('allows several workers on the engines on Linux, and one everywhere', () => {
  check({ ...engines, TOLLGATE_INGEST_WORKERS: '4' })
  check({}, 'darwin')
  check({ ...engines, TOLLGATE_INGEST_WORKERS: '1' }, 'win32')
})

test.each([
  ['on the embedded log', {}, 'linux', /one writer.*Set it to 1, or run on the engines/],
  ['on Kafka without Redis', { TOLLGATE_EVENT_LOG: 'kafka' }, 'linux', /TOLLGATE_HOT_STATE=redis/],
  ['on macOS', engines, 'darwin', /only on Linux.*load balancer/],
] as const)('refuses several workers %s', (_, environment, platform, reason) => {
  const settings = { ...environment, TOLLGATE_INGEST_WORKERS: '2' }
  expect(() => check(settings, platform)).toThrow(reason)
  expect(() => check(settings, platform)).toThrow(/^TOLLGATE_INGEST_WORKERS=2: /)
})

test('takes only a child of a parent for a worker', () => {
  expect(readWorkerNumber(workerParameters(3), true)).toBe(3)
  expect(readWorkerNumber(workerParameters(3), false)).toBeUndefined()
  expect(readWorkerNumber([], true)).toBeUndefined()
})

test.each([
  ['20.19.0', false],
  ['22.11.0', false],
  ['22.12.0', true],
  ['23.0.0', false],
  ['23.1.0', true],
  ['24.0.0', true],
])('node:http of Node %s shares ports: %s', (version, canShare) => {
  expect(canSharePorts(version)).toBe(canShare)
})
