import { readFileSync } from 'node:fs'
import { aggregatorSettings } from '@tollgate/aggregator/config'
import { billingRunnerSettings } from '@tollgate/billing-runner/config'
import { controlPlaneSettings } from '@tollgate/control-plane/config'
import { ingestSettings } from '@tollgate/ingest/config'
import { mcpProxySettings } from '@tollgate/mcp-proxy/config'
import type { Settings } from '@tollgate/platform/config/settings'
import { tracingSettings } from '@tollgate/platform/observability/open-tracing'
import { webhookDispatcherSettings } from '@tollgate/webhook-dispatcher/config'

/** Settings of the image's programs, by the path of the program. */
const settingsByProgram: Readonly<Record<string, Settings>> = {
  'ingest/dist/main.js': ingestSettings,
  'aggregator/dist/main.js': aggregatorSettings,
  'control-plane/dist/main.js': controlPlaneSettings,
  'billing-runner/dist/main.js': billingRunnerSettings,
  'webhook-dispatcher/dist/main.js': webhookDispatcherSettings,
  'mcp-proxy/dist/main.js': mcpProxySettings,
}

const allSettings: readonly Settings[] = [...Object.values(settingsByProgram), tracingSettings]

export const knownVariables: ReadonlySet<string> = new Set(
  allSettings.flatMap((settings) => Object.values(settings).map(({ variable }) => variable)),
)

const dockerfile = readFileSync(new URL('../../Dockerfile', import.meta.url), 'utf8')

/** Environment that the image sets for all programs. */
const imageEnvironment = Object.fromEntries(
  [...dockerfile.matchAll(/\b(TOLLGATE_\w+)=([^\s$]+)/g)].map(([, name, value]) => [name!, value!]),
)

/** Reads the settings of a program like its process in the image. Throws the errors that it would report. */
export function readAsProgram(
  program: string,
  environment: Readonly<Record<string, string>>,
): void {
  const settings = settingsByProgram[program]
  if (settings === undefined) throw new Error(`the image has no program ${program}`)
  for (const variable of Object.keys(environment)) {
    if (/^(TOLLGATE|OTEL)_/.test(variable) && !knownVariables.has(variable)) {
      throw new Error(`no service reads ${variable}`)
    }
  }
  for (const setting of [...Object.values(settings), ...Object.values(tracingSettings)]) {
    const text =
      environment[setting.variable] ?? imageEnvironment[setting.variable] ?? setting.defaultText
    if (text === undefined) throw new Error(`${program} needs ${setting.variable}`)
    setting.parse(text)
  }
}
