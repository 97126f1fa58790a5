import { embeddedFolder } from '@tollgate/platform/config/data-dir'
import type { Logger } from '@tollgate/platform/observability/logger'
import { createMetrics } from '@tollgate/platform/observability/metrics'
import { createAdminServer } from '@tollgate/platform/service/admin-server'
import { openOwned } from '@tollgate/platform/service/open-owned'
import type { Service } from '@tollgate/platform/service/service'
import type { SimulatorConfig } from './config.ts'
import { startSimulator, type Simulator, type SimulatorOptions } from './simulator.ts'

export type StripeSimulator = Service & {
  /** Port of the API. Known after the start. */
  readonly port: number
  readonly adminPort: number
}

/** Creates the simulator as a service with its state in the data folder and an admin server. */
export function createStripeSimulator(
  config: SimulatorConfig,
  { logger }: { readonly logger: Logger },
): StripeSimulator {
  let opened: Awaited<ReturnType<typeof open>> | undefined
  const admin = createAdminServer({
    host: config.adminHost,
    port: config.adminPort,
    metrics: createMetrics('stripe-simulator'),
    readiness: [{ name: 'state', check: async () => opened?.simulator.check() }],
    liveness: [],
  })
  const open = (): Promise<{ simulator: Simulator; close(): Promise<void> }> =>
    openOwned(async (own) => {
      const simulator = await startSimulator({
        folder: embeddedFolder(config.dataDir, 'stripe'),
        host: config.host,
        port: config.port,
        webhooks: webhooksOf(config),
        onError: (error) => logger.error({ err: error }, 'the simulator has a bug'),
      })
      await own({ close: () => simulator.stop() })
      await admin.start()
      await own({ close: () => admin.stop() })
      return { simulator }
    })
  return {
    get port() {
      return opened?.simulator.port ?? config.port
    },
    get adminPort() {
      return admin.port
    },
    start: async () => void (opened = await open()),
    stop: async () => await opened?.close(),
  }
}

function webhooksOf(config: SimulatorConfig): NonNullable<SimulatorOptions['webhooks']> {
  const [sandboxSecret] = config.stripeSandboxWebhookSecrets
  const [liveSecret] = config.stripeLiveWebhookSecrets
  return {
    ...(config.sandboxWebhookUrl !== '' &&
      sandboxSecret !== undefined && {
        test: { url: config.sandboxWebhookUrl, secret: sandboxSecret },
      }),
    ...(config.liveWebhookUrl !== '' &&
      liveSecret !== undefined && {
        live: { url: config.liveWebhookUrl, secret: liveSecret },
      }),
  }
}
