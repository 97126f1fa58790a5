import { dataDirSetting } from '@tollgate/platform/config/data-dir'
import {
  integerSetting,
  readSettings,
  textSetting,
  type SettingValues,
} from '@tollgate/platform/config/settings'
import { stripeSettings } from '@tollgate/platform/payments/stripe/stripe-settings'
import { operatorSettings } from '@tollgate/platform/service/operator-settings'

const port = { min: 0, max: 65_535 }
const { stripeSandboxWebhookSecrets, stripeLiveWebhookSecrets } = stripeSettings

/** All settings of the simulator. */
export const simulatorSettings = {
  dataDir: dataDirSetting,
  host: textSetting(
    'TOLLGATE_STRIPE_SIMULATOR_HOST',
    'Address that the simulator listens on; everyone who can reach it can use it',
    '127.0.0.1',
  ),
  port: integerSetting(
    'TOLLGATE_STRIPE_SIMULATOR_PORT',
    'Port of the simulator; 0 takes any free port',
    0,
    port,
  ),
  sandboxWebhookUrl: textSetting(
    'TOLLGATE_STRIPE_SIMULATOR_SANDBOX_WEBHOOK_URL',
    'URL to which events of sandbox are sent, signed with the first of TOLLGATE_STRIPE_SANDBOX_WEBHOOK_SECRETS; if empty, none are sent',
    '',
  ),
  liveWebhookUrl: textSetting(
    'TOLLGATE_STRIPE_SIMULATOR_LIVE_WEBHOOK_URL',
    'URL to which events of live are sent, signed with the first of TOLLGATE_STRIPE_LIVE_WEBHOOK_SECRETS; if empty, none are sent',
    '',
  ),
  stripeSandboxWebhookSecrets,
  stripeLiveWebhookSecrets,
  ...operatorSettings,
}

export type SimulatorConfig = SettingValues<typeof simulatorSettings>

export function readSimulatorConfig(
  environment: Readonly<Record<string, string | undefined>>,
): SimulatorConfig {
  return readSettings(simulatorSettings, environment)
}
