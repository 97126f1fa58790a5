import { aggregatorSettings } from '@tollgate/aggregator/config'
import { billingRunnerSettings } from '@tollgate/billing-runner/config'
import { controlPlaneSettings } from '@tollgate/control-plane/config'
import { ingestSettings } from '@tollgate/ingest/config'
import type { Setting, Settings } from '@tollgate/platform/config/settings'
import { tracingSettings } from '@tollgate/platform/observability/open-tracing'
import { clickHouseReaderSettings } from '@tollgate/platform/usage-store/clickhouse/clickhouse-settings'
import { webhookDispatcherSettings } from '@tollgate/webhook-dispatcher/config'
import { engineSettings } from '../engines/settings.ts'
import { standaloneSettings } from '../standalone/settings.ts'
import { simulatorSettings } from '../stripe-simulator/config.ts'

const sections: readonly {
  readonly title: string
  readonly lead: string
  readonly settings: Settings
}[] = [
  {
    title: 'npm start',
    lead: 'Read by the supervisor. Every other variable reaches the services unchanged; the addresses below are set by it.',
    settings: standaloneSettings,
  },
  { title: 'ingest', lead: 'The public address.', settings: ingestSettings },
  { title: 'aggregator', lead: 'The two projections.', settings: aggregatorSettings },
  { title: 'control-plane', lead: 'The management API.', settings: controlPlaneSettings },
  { title: 'billing-runner', lead: 'Scheduled work.', settings: billingRunnerSettings },
  {
    title: 'webhook-dispatcher',
    lead: 'Sends what happens to the endpoints of providers.',
    settings: webhookDispatcherSettings,
  },
  {
    title: 'stripe-simulator',
    lead: 'The local Stripe of `npm start` (`deploy/src/stripe-simulator`).',
    settings: simulatorSettings,
  },
  {
    title: 'Traces',
    lead:
      'Read by every service, as OpenTelemetry names them (operations.md, Traces). Headers, time-outs, the queue and what ' +
      'else is said of the resource: `OTEL_EXPORTER_OTLP_*`, `OTEL_BSP_*`, `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_SERVICE_NAME`.',
    settings: tracingSettings,
  },
  {
    title: 'npm run tollgate',
    lead: 'Read by `tollgate clickhouse` beside the settings of the services (docs/data-team.md).',
    settings: clickHouseReaderSettings,
  },
  {
    title: 'npm run engines:up',
    lead: 'Read by `engines:up`, `engines:status` and `engines:down` (`deploy/local`).',
    settings: engineSettings,
  },
]

/** The text of `docs/configuration.md`: every setting as its service declares it. */
export function configurationPage(): string {
  const head = [
    '# Configuration',
    '',
    'Every setting is an environment variable. A service that is given a wrong one lists everything wrong and does not',
    'start. This page is made from the declarations: `npm run docs`.',
  ]
  return [...head, ...sections.flatMap(sectionLines), ''].join('\n')
}

function sectionLines({ title, lead, settings }: (typeof sections)[number]): string[] {
  return [
    '',
    `## ${title}`,
    '',
    lead,
    '',
    '| Variable | Default | Meaning |',
    '| --- | --- | --- |',
    ...Object.values(settings).map(settingLine),
  ]
}

function settingLine({ variable, defaultText, description }: Setting<unknown>): string {
  const shown =
    defaultText === undefined ? 'must be set' : defaultText === '' ? 'empty' : `\`${defaultText}\``
  return `| \`${variable}\` | ${shown} | ${description.replaceAll('|', '\\|')} |`
}
