import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createProjectionMetrics } from '@tollgate/aggregator/consume/projection-metrics'
import { createJobMetrics, registerOverdueEvents } from '@tollgate/billing-runner/metrics'
import { createEmailMetrics, registerDueEmails } from '@tollgate/control-plane/emails/email-metrics'
import { UsageLag } from '@tollgate/control-plane/jobs/usage-lag'
import {
  createPeriodUsageAnswers,
  createUnknownNames,
  createRequestSeconds,
  registerUsageLag,
} from '@tollgate/control-plane/metrics'
import { createTaxServiceMetrics } from '@tollgate/domain/tax-service/tax-service-metrics'
import { BusCounts, registerBusMetrics } from '@tollgate/ingest/bus/bus-metrics'
import { createIngestCounts, createScrubMetrics, registerGauges } from '@tollgate/ingest/metrics'
import { registerWorkersMetrics } from '@tollgate/ingest/workers/workers-metrics'
import { createMetrics } from '@tollgate/platform/observability/metrics'
import { createDispatchMetrics, registerWaiting } from '@tollgate/webhook-dispatcher/metrics'
import { parser } from '@prometheus-io/lezer-promql'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

const deploy = fileURLToPath(new URL('..', import.meta.url))

type Panel = {
  readonly id: number
  readonly title: string
  readonly type: string
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[]
}
type Dashboard = { readonly uid: string; readonly panels: readonly Panel[] }
type Rule = {
  readonly alert: string
  readonly expr: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string }
}

const dashboards = readdirSync(join(deploy, 'grafana/dashboards')).map(
  (file) => JSON.parse(readFileSync(join(deploy, 'grafana/dashboards', file), 'utf8')) as Dashboard,
)
const { groups } = parse(readFileSync(join(deploy, 'prometheus/alerts.yaml'), 'utf8')) as {
  groups: readonly { readonly rules: readonly Rule[] }[]
}
const rules = groups.flatMap((group) => group.rules)

/** The exported series and their labels. */
const exported = await exportedSeries()

async function exportedSeries(): Promise<Map<string, ReadonlySet<string>>> {
  const registry = createMetrics('test')
  createIngestCounts(registry)
  createScrubMetrics(registry)
  const bus = { isConnected: () => true, messagesInFlight: () => 0, bytesInFlight: () => 0 }
  registerBusMetrics(registry, new BusCounts(), bus)
  const none = (): number => 0
  registerGauges(registry, {
    appendsInFlight: none,
    appendBytesInFlight: none,
    recentKeys: none,
    tailBytes: none,
  })
  registerWorkersMetrics(registry, [])
  createProjectionMetrics(registry)
  createRequestSeconds(registry)
  createPeriodUsageAnswers(registry)
  createUnknownNames(registry)
  registerUsageLag(registry, new UsageLag(none))
  createJobMetrics(registry)
  registerOverdueEvents(registry, async () => 0)
  createEmailMetrics(registry)
  registerDueEmails(registry, async () => ({ emails: 0, oldestAgeSeconds: 0 }))
  createTaxServiceMetrics(registry)
  createDispatchMetrics(registry)
  registerWaiting(registry, async () => ({ deliveries: 0, oldestAgeSeconds: 0 }), none)
  // Prometheus adds the target's labels, and every service adds its name.
  const series = new Map([['up', new Set(['job', 'instance'])]])
  for (const { name, type } of await registry.getMetricsAsJSON()) {
    const { labelNames } = registry.getSingleMetric(name) as unknown as { labelNames: string[] }
    const labels = new Set([...labelNames, 'job', 'instance', 'service'])
    if (String(type) !== 'histogram') series.set(name, labels)
    else {
      series.set(`${name}_bucket`, new Set([...labels, 'le']))
      for (const suffix of ['sum', 'count']) series.set(`${name}_${suffix}`, labels)
    }
  }
  return series
}

/** Returns the problems of a PromQL expression: invalid syntax, series that no service exports, and unknown labels. */
function problemsOf(expression: string): string[] {
  const text = expression.replaceAll('$__rate_interval', '5m')
  const problems: string[] = []
  const names: string[] = []
  const labels = new Set<string>()
  parser.parse(text).iterate({
    enter: ({ name, from, to }) => {
      if (name === '⚠') problems.push(`syntax at ${from} of ${text}`)
      if (name === 'Identifier') names.push(text.slice(from, to))
      if (name === 'LabelName') labels.add(text.slice(from, to))
    },
  })
  for (const name of names) if (!exported.has(name)) problems.push(`nobody exports ${name}`)
  const known = new Set(names.flatMap((name) => [...(exported.get(name) ?? [])]))
  for (const label of labels) if (!known.has(label)) problems.push(`no series has ${label}`)
  return problems
}

describe('expressions', () => {
  it('are detected if they are wrong', () => {
    expect(problemsOf('sum by (topic) (rate(tollgate_projection_records_total[5m]))')).toEqual([])
    expect(problemsOf('tollgate_projection_lag')).toEqual([
      'nobody exports tollgate_projection_lag',
    ])
    expect(problemsOf('sum by (shard) (tollgate_projection_lag_records)')).toEqual([
      'no series has shard',
    ])
    expect(problemsOf('tollgate_ingest_append_seconds{le="1"}')[0]).toContain('nobody exports')
    expect(problemsOf('rate(up[5m)')).not.toEqual([])
  })

  const panels = dashboards.flatMap(({ uid, panels }) => panels.map((panel) => ({ uid, ...panel })))
  it.each(panels.filter(({ type }) => type !== 'row'))(
    'are valid in $uid: $title',
    ({ targets = [] }) => {
      expect(targets.length).toBeGreaterThan(0)
      for (const { expr } of targets) expect(problemsOf(expr)).toEqual([])
    },
  )

  it.each(rules)('are valid in the alert $alert', ({ expr }) =>
    expect(problemsOf(expr)).toEqual([]),
  )
})

it('shows every metric on a dashboard', () => {
  const shown = dashboards
    .flatMap(({ panels }) => panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)))
    .join('\n')
  const base = (name: string): string => name.replace(/_(bucket|sum|count)$/, '')
  const ours = new Set(
    [...exported.keys()].filter((name) => name.startsWith('tollgate_')).map(base),
  )
  expect(ours.size).toBeGreaterThan(15)
  expect([...ours].filter((name) => !shown.includes(name))).toEqual([])
})

it('gives each panel of a dashboard its own number', () => {
  for (const { panels } of dashboards) {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  }
})

it('has a severity for every alert, and a section in docs/operations.md', () => {
  const page = readFileSync(join(deploy, '../docs/operations.md'), 'utf8')
  for (const { alert, labels, annotations } of rules) {
    expect(['page', 'ticket']).toContain(labels.severity)
    expect(annotations.summary).not.toBe('')
    expect(page, alert).toContain(`\`${alert}\``)
  }
})

const hasPromtool = spawnSync('promtool', ['--version']).status === 0
it.skipIf(!hasPromtool)(
  'passes promtool with the rules and their tests (promtool on the PATH)',
  () => {
    const run = (...parameters: string[]): string =>
      execFileSync('promtool', parameters, { cwd: join(deploy, 'prometheus'), encoding: 'utf8' })
    expect(run('check', 'config', 'prometheus.yaml')).toContain('SUCCESS')
    expect(run('test', 'rules', 'alerts.test.yaml')).toContain('SUCCESS')
  },
)
