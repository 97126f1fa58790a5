import { aggregatorSettings } from '@tollgate/aggregator/config'
import { billingRunnerSettings } from '@tollgate/billing-runner/config'
import { controlPlaneSettings } from '@tollgate/control-plane/config'
import { ingestSettings } from '@tollgate/ingest/config'
import { mcpProxySettings } from '@tollgate/mcp-proxy/config'
import type { Settings } from '@tollgate/platform/config/settings'
import { tracingSettings } from '@tollgate/platform/observability/open-tracing'
import { clickHouseReaderSettings } from '@tollgate/platform/usage-store/clickhouse/clickhouse-settings'
import { webhookDispatcherSettings } from '@tollgate/webhook-dispatcher/config'
import { engineSettings } from './engine-settings.ts'
import { standaloneSettings } from './standalone-settings.ts'
import { simulatorSettings } from '@tollgate/stripe-simulator/config'

/** Settings of one program, with the introduction of its section in `docs/configuration.md`. */
export type SettingsSection = {
  readonly title: string
  readonly lead: string
  readonly settings: Settings
}

/** All settings of this repository, by the program that reads them. */
export const settingsSections: readonly SettingsSection[] = [
  {
    title: 'npm start',
    lead: 'Read by the supervisor. It passes every other variable to the services unchanged, and sets their addresses itself.',
    settings: standaloneSettings,
  },
  { title: 'ingest', lead: 'The public address.', settings: ingestSettings },
  {
    title: 'aggregator',
    lead: 'The two projections of the event log.',
    settings: aggregatorSettings,
  },
  { title: 'control-plane', lead: 'The management API.', settings: controlPlaneSettings },
  { title: 'billing-runner', lead: 'Scheduled work.', settings: billingRunnerSettings },
  {
    title: 'webhook-dispatcher',
    lead: 'Sends webhooks to the endpoints of providers.',
    settings: webhookDispatcherSettings,
  },
  {
    title: 'mcp-proxy',
    lead: 'The public address of MCP servers.',
    settings: mcpProxySettings,
  },
  {
    title: 'stripe-simulator',
    lead: 'The local Stripe of `npm start` (`stripe-simulator`).',
    settings: simulatorSettings,
  },
  {
    title: 'Traces',
    lead:
      'Read by every service, with the names of OpenTelemetry (operations.md, Traces). Headers, timeouts, the queue and the ' +
      'resource are set with `OTEL_EXPORTER_OTLP_*`, `OTEL_BSP_*`, `OTEL_RESOURCE_ATTRIBUTES` and `OTEL_SERVICE_NAME`.',
    settings: tracingSettings,
  },
  {
    title: 'npm run tollgate',
    lead: 'Read by `tollgate clickhouse` in addition to the settings of the services (docs/data-team.md).',
    settings: clickHouseReaderSettings,
  },
  {
    title: 'npm run engines:up',
    lead: 'Read by `engines:up`, `engines:status` and `engines:down` (`tools/local`).',
    settings: engineSettings,
  },
]
