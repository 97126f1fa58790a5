import { createMetrics } from '@tollgate/platform/observability/metrics'
import { expect, test } from 'vitest'
import { registerWaiting } from './metrics.ts'

test('counts the queue once per scrape for both gauges, and omits an environment whose count fails', async () => {
  const registry = createMetrics('test')
  let counts = 0
  let isAway = false
  const count = async (
    space: string,
  ): Promise<{ deliveries: number; oldestAgeSeconds: number }> => {
    await new Promise(setImmediate)
    if (isAway && space === 'live') throw new Error('away')
    counts += 1
    return { deliveries: counts, oldestAgeSeconds: counts * 10 }
  }
  registerWaiting(registry, count, () => 0)
  const scrape = async (): Promise<string[]> =>
    (await registry.metrics())
      .split('\n')
      .filter((line) => line.startsWith('tollgate_webhook_queue_'))
      .map((line) => line.replace(/^tollgate_webhook_queue_(\w+){space="(\w+)".*}/, '$1 $2'))
  expect(await scrape()).toEqual([
    'age_seconds sandbox 10',
    'age_seconds live 20',
    'deliveries sandbox 1',
    'deliveries live 2',
  ])
  isAway = true
  expect(await scrape()).toEqual(['age_seconds sandbox 30', 'deliveries sandbox 3'])
})
