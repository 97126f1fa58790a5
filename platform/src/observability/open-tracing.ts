import { readSettings, textSetting } from '../config/settings.ts'
import type { ProcessLabels } from './logger.ts'
import type { Tracing } from './tracing.ts'

const ownSampler = 'parentbased_traceidratio'

/** Tracing settings that Tollgate reads. OpenTelemetry's library reads the others: headers, timeouts, queue, resource. */
export const tracingSettings = {
  endpoint: textSetting(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'Base URL of an OpenTelemetry collector (OTLP over HTTP, protobuf). Traces are sent if this is set',
    '',
  ),
  tracesEndpoint: textSetting(
    'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    'Complete URL for traces, if it differs from the base URL',
    '',
  ),
  disabled: textSetting('OTEL_SDK_DISABLED', 'true turns traces off', ''),
  exporter: textSetting('OTEL_TRACES_EXPORTER', 'none turns traces off', 'otlp'),
  sampler: textSetting(
    'OTEL_TRACES_SAMPLER',
    "Which requests are traced. The default follows the caller's decision, and samples a share of the requests without a trace",
    ownSampler,
  ),
  ratio: {
    variable: 'OTEL_TRACES_SAMPLER_ARG',
    description:
      'Share of requests without a trace that are sampled, from 0 to 1. Samplers other than the default have their own default',
    defaultText: '0.01',
    parse: parseRatio,
  },
}

function parseRatio(text: string): number {
  const ratio = Number(text)
  if (text.trim() === '' || !(ratio >= 0 && ratio <= 1)) throw new Error('must be from 0 to 1')
  return ratio
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Opens tracing as configured by the standard variables of OpenTelemetry. Returns undefined, without loading the library, if traces
 * are off. `report` is called with the reason when traces cannot be sent.
 */
export async function openTracing(
  service: string,
  environment: Environment,
  report: (reason: string) => void,
  process: ProcessLabels = {},
): Promise<Tracing | undefined> {
  if (!areWanted(environment)) return undefined
  const { openTelemetry } = await import('./open-telemetry.ts')
  return openTelemetry({ service, process, defaultRatio: ownRatio(environment), report })
}

function areWanted(environment: Environment): boolean {
  const { ratio: _ratio, ...switches } = tracingSettings
  const { disabled, exporter, endpoint, tracesEndpoint } = readSettings(switches, environment)
  if (disabled.trim().toLowerCase() === 'true' || exporter.trim() === 'none') return false
  return endpoint.trim() !== '' || tracesEndpoint.trim() !== ''
}

/** Returns undefined if another sampler is configured, which the library handles. */
function ownRatio(environment: Environment): number | undefined {
  const { sampler, ratio } = tracingSettings
  const asked = readSettings({ sampler }, environment).sampler.trim()
  if (asked !== '' && asked !== ownSampler) return undefined
  return readSettings({ ratio }, environment).ratio
}
