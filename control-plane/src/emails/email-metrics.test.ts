import { createMetrics } from '@tollgate/platform/observability/metrics'
import { expect, test } from 'vitest'
import { registerDueEmails } from './email-metrics.ts'

test('the gauges of the queue have the values of their own scrape', async () => {
  const registry = createMetrics('test')
  let emails = 0
  registerDueEmails(registry, async (space) => {
    await new Promise(setImmediate)
    if (emails > 0 && space === 'live') throw new Error('away')
    emails += 1
    return { emails, oldestAgeSeconds: emails * 10 }
  })
  const scrape = async (): Promise<string[]> =>
    (await registry.metrics())
      .split('\n')
      .filter((line) => line.startsWith('tollgate_emails_due'))
      .map((line) => line.replace(/^tollgate_emails_(\w+){space="(\w+)".*}/, '$1 $2'))
  expect(await scrape()).toEqual(['due sandbox 1', 'due_age_seconds sandbox 10'])
  expect(await scrape()).toEqual(['due sandbox 2', 'due_age_seconds sandbox 20'])
})
