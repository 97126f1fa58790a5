import { readSettings, textSetting } from '../config/settings.ts'
import type { Tracing } from './tracing.ts'

const ownSampler = 'parentbased_traceidratio'

/** The settings that are decided on here. OpenTelemetry's library reads the rest: headers, timeouts, queue, resource. */
export const tracingSettings = {
  endpoint: textSetting(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'Base URL of an OpenTelemetry collector (OTLP over HTTP, protobuf); traces are on when it is given',
    '',
  ),
  tracesEndpoint: textSetting(
    'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    'The whole URL for traces, where it is another one',
    '',
  ),
  disabled: textSetting('OTEL_SDK_DISABLED', 'true turns traces off again', ''),
  exporter: textSetting('OTEL_TRACES_EXPORTER', 'none turns traces off again', 'otlp'),
  sampler: textSetting(
    'OTEL_TRACES_SAMPLER',
    'Which requests are traced; the default follows the caller, and takes a share of those without a trace',
    ownSampler,
  ),
  ratio: {
    variable: 'OTEL_TRACES_SAMPLER_ARG',
    description:
      'That share, from 0 to 1; other samplers than the default have defaults of their own',
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
 * Traces as the standard variables of OpenTelemetry ask for them; undefined where they do not. The library is loaded
 * only then. `report` is told why traces cannot be sent.
 */
export async function openTracing(
  service: string,
  environment: Environment,
  report: (reason: string) => void,
): Promise<Tracing | undefined> {
  if (!areWanted(environment)) return undefined
  const { openTelemetry } = await import('./open-telemetry.ts')
  return openTelemetry({ service, defaultRatio: ownRatio(environment), report })
}

function areWanted(environment: Environment): boolean {
  const { ratio: _ratio, ...switches } = tracingSettings
  const { disabled, exporter, endpoint, tracesEndpoint } = readSettings(switches, environment)
  if (disabled.trim().toLowerCase() === 'true' || exporter.trim() === 'none') return false
  return endpoint.trim() !== '' || tracesEndpoint.trim() !== ''
}

/** Undefined where another sampler is asked for, which the library knows. */
function ownRatio(environment: Environment): number | undefined {
  const { sampler, ratio } = tracingSettings
  const asked = readSettings({ sampler }, environment).sampler.trim()
  if (asked !== '' && asked !== ownSampler) return undefined
  return readSettings({ ratio }, environment).ratio
}
