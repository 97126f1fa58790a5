import { expect, test } from 'vitest'
import { mergeMetrics } from './merge-metrics.ts'
import { Counter, createMetrics, Histogram } from './metrics.ts'

async function pageOf(worker: string, events: number): Promise<string> {
  const registry = createMetrics('ingest', { worker })
  const registers = [registry]
  const byStatus = { name: 'refused_total', help: 'Two\nlines', labelNames: ['status'], registers }
  new Counter(byStatus).inc({ status: '503' }, events)
  new Counter({ name: 'events_total', help: 'Events', registers }).inc(events)
  new Histogram({ name: 'append_seconds', help: 'Appends', buckets: [1], registers }).observe(0.5)
  return registry.metrics()
}

test('describes each metric once, with the samples of all pages below', async () => {
  const merged = mergeMetrics([await pageOf('1', 3), await pageOf('2', 4)])
  expect(merged).toContain(
    [
      '# HELP events_total Events',
      '# TYPE events_total counter',
      'events_total{service="ingest",worker="1"} 3',
      'events_total{service="ingest",worker="2"} 4',
      '',
    ].join('\n'),
  )
  expect(merged).toContain(
    'refused_total{status="503",service="ingest",worker="1"} 3\nrefused_total{status="503",service="ingest",worker="2"} 4\n',
  )
  const buckets = merged.match(/^append_seconds_bucket.*$/gm)
  expect(buckets).toHaveLength(4)
  const described = merged.match(/^# (HELP|TYPE) \S+/gm) ?? []
  expect(new Set(described).size).toBe(described.length)
})

test('keeps every line of a single page', async () => {
  const page = await pageOf('1', 3)
  const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '')
  expect(linesOf(mergeMetrics([page]))).toEqual(linesOf(page))
})
