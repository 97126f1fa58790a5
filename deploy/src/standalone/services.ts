import { join } from 'node:path'
import { readerName } from '@tollgate/platform/chdb-gateway/credentials'
import type { DataFolder } from './data-folder.ts'
import { servicePrograms } from './service-programs.ts'
import { nodePart } from './node-part.ts'
import { findFreePort, host } from './ports.ts'
import type { OwnStores } from './stores.ts'
import type { Part } from '@tollgate/platform/processes/supervise'

/** Ports of this run. They stay the same after relaunches, so that no part needs to be informed. */
export type Addresses = {
  readonly publicPort: number
  readonly mcpPort: number
  readonly postgresPort: number
  readonly clickhousePort: number
  readonly controlPlanePort: number
  readonly stripeSimulatorPort: number
  readonly adminPorts: Readonly<Record<AdminService, number>>
}

const adminServices = [
  'control-plane',
  'aggregator-counters',
  'aggregator-sink',
  'ingest',
  'billing-runner',
  'webhook-dispatcher',
  'mcp-proxy',
  'stripe-simulator',
] as const
type AdminService = (typeof adminServices)[number]

/** Ports that the user can choose. 0 selects any free port. */
export type ChosenPorts = Pick<Addresses, 'publicPort' | 'mcpPort' | 'clickhousePort'>

export async function chooseAddresses({
  publicPort,
  mcpPort,
  clickhousePort,
}: ChosenPorts): Promise<Addresses> {
  const taken = new Set([publicPort, mcpPort, clickhousePort])
  const free = (): Promise<number> => findFreePort(taken)
  const adminPorts = {} as Record<AdminService, number>
  for (const service of adminServices) adminPorts[service] = await free()
  return {
    publicPort: publicPort === 0 ? await free() : publicPort,
    mcpPort: mcpPort === 0 ? await free() : mcpPort,
    postgresPort: await free(),
    clickhousePort: clickhousePort === 0 ? await free() : clickhousePort,
    controlPlanePort: await free(),
    stripeSimulatorPort: await free(),
    adminPorts,
  }
}

export type Shared = {
  readonly folder: DataFolder
  readonly addresses: Addresses
  readonly own: OwnStores
  /** URL of the embedded PostgreSQL. Empty until it runs, and parts that need it are launched afterwards. */
  databaseUrl: string
  /** Valid for one run: the gateway stores no password, and both sides are started here. */
  readonly clickhousePassword: string
  /** Password of the read-only ClickHouse user. It is kept in the data folder, because people write it down. */
  readonly clickhouseReaderPassword: string
  /**
   * Webhook secret of the simulator, or undefined if payments are not simulated. It is valid for one run: the simulator signs all
   * events with it, including those of earlier runs.
   */
  readonly stripeWebhookSecret: string | undefined
  /** Whether the page at `/` shows the demo provider. */
  readonly hasDemoPage: boolean
}

/**
 * Returns the settings that all services share. Each service also gets its own ports. Settings of external stores are not changed.
 */
export function sharedEnvironment(shared: Shared): Record<string, string> {
  const { folder, addresses, own, databaseUrl, clickhousePassword, stripeWebhookSecret } = shared
  const { clickhouseReaderPassword } = shared
  return {
    TOLLGATE_DATA_DIR: folder.root,
    ...(own.postgres && { TOLLGATE_DATABASE_URL: databaseUrl }),
    ...(own.clickhouse && {
      TOLLGATE_CLICKHOUSE_URL: `http://${host}:${addresses.clickhousePort}`,
      TOLLGATE_CLICKHOUSE_USERNAME: 'default',
      TOLLGATE_CLICKHOUSE_PASSWORD: clickhousePassword,
      TOLLGATE_CLICKHOUSE_READER_USERNAME: readerName,
      TOLLGATE_CLICKHOUSE_READER_PASSWORD: clickhouseReaderPassword,
    }),
    ...(stripeWebhookSecret !== undefined && stripeEnvironment(addresses, stripeWebhookSecret)),
    TOLLGATE_DEMO_FILE: shared.hasDemoPage ? folder.demoFile : '',
    TOLLGATE_INGEST_URL: `http://${host}:${addresses.publicPort}`,
    TOLLGATE_CONTROL_PLANE_URL: `http://${host}:${addresses.controlPlanePort}`,
    TOLLGATE_HOSTED_URL: `http://${host}:${addresses.publicPort}`,
    TOLLGATE_HOST: host,
    TOLLGATE_CONTROL_PLANE_HOST: host,
    TOLLGATE_ADMIN_HOST: host,
  }
}

/**
 * Defaults that the environment can override. Sandbox requests to `localhost` are allowed, because here everything listens on
 * loopback and every local process can reach it anyway. Where other people can reach an installation, this setting is empty.
 */
export const defaultEnvironment = { TOLLGATE_OUTBOUND_SANDBOX_ALLOWED: 'localhost' }

/**
 * Returns default URL templates for the MCP proxy. Without wildcard DNS, the MCP servers share a host and are distinguished by
 * their path.
 */
export function mcpUrls({ mcpPort }: Addresses): Record<string, string> {
  const url = `http://${host}:${mcpPort}`
  return {
    TOLLGATE_MCP_SANDBOX_URL: `${url}/sandbox/mcp/{subdomain}`,
    TOLLGATE_MCP_LIVE_URL: `${url}/mcp/{subdomain}`,
  }
}

/** Settings with which both environments use the simulator. Its keys are valid nowhere else. */
function stripeEnvironment(addresses: Addresses, webhookSecret: string): Record<string, string> {
  const url = `http://${host}:${addresses.stripeSimulatorPort}`
  return {
    TOLLGATE_STRIPE_SANDBOX_URL: url,
    TOLLGATE_STRIPE_SANDBOX_SECRET_KEY: 'sk_test_simulator',
    TOLLGATE_STRIPE_SANDBOX_PUBLISHABLE_KEY: 'pk_test_simulator',
    TOLLGATE_STRIPE_SANDBOX_WEBHOOK_SECRETS: webhookSecret,
    TOLLGATE_STRIPE_LIVE_URL: url,
    TOLLGATE_STRIPE_LIVE_SECRET_KEY: 'sk_live_simulator',
    TOLLGATE_STRIPE_LIVE_PUBLISHABLE_KEY: 'pk_live_simulator',
    TOLLGATE_STRIPE_LIVE_WEBHOOK_SECRETS: webhookSecret,
  }
}

export function adminUrls(addresses: Addresses): Record<AdminService, string> {
  const urls = adminServices.map((name) => [name, `http://${host}:${addresses.adminPorts[name]}`])
  return Object.fromEntries(urls) as Record<AdminService, string>
}

export function clickhousePart(
  folder: DataFolder,
  addresses: Addresses,
  environment: () => Readonly<Record<string, string | undefined>>,
): Part {
  return nodePart({
    name: 'chdb-gateway',
    entry: servicePrograms.chdbGateway,
    logPath: join(folder.logs, 'chdb-gateway.log'),
    environment: () => ({
      ...environment(),
      CHDB_GATEWAY_FOLDER: folder.clickhouse,
      CHDB_GATEWAY_PORT: String(addresses.clickhousePort),
      CHDB_GATEWAY_PASSWORD: environment()['TOLLGATE_CLICKHOUSE_PASSWORD'],
      CHDB_GATEWAY_READER_PASSWORD: environment()['TOLLGATE_CLICKHOUSE_READER_PASSWORD'],
      // Every running statement uses one thread of libuv. With the default of 4, statements could use all of them.
      UV_THREADPOOL_SIZE: '8',
    }),
  })
}

const ownSettings: Record<AdminService, (addresses: Addresses) => Record<string, string>> = {
  'control-plane': ({ controlPlanePort }) => ({
    TOLLGATE_CONTROL_PLANE_PORT: String(controlPlanePort),
  }),
  'aggregator-counters': () => ({ TOLLGATE_PROJECTION: 'counters' }),
  'aggregator-sink': () => ({ TOLLGATE_PROJECTION: 'sink' }),
  ingest: ({ publicPort }) => ({ TOLLGATE_PORT: String(publicPort) }),
  'billing-runner': () => ({}),
  'webhook-dispatcher': () => ({}),
  'mcp-proxy': ({ mcpPort }) => ({ TOLLGATE_MCP_HOST: host, TOLLGATE_MCP_PORT: String(mcpPort) }),
  'stripe-simulator': ({ stripeSimulatorPort, controlPlanePort }) => {
    const webhooks = `http://${host}:${controlPlanePort}/webhooks/stripe`
    return {
      TOLLGATE_STRIPE_SIMULATOR_PORT: String(stripeSimulatorPort),
      TOLLGATE_STRIPE_SIMULATOR_SANDBOX_WEBHOOK_URL: `${webhooks}/sandbox`,
      TOLLGATE_STRIPE_SIMULATOR_LIVE_WEBHOOK_URL: `${webhooks}/live`,
    }
  },
}

const programOf: Record<AdminService, string> = {
  'control-plane': servicePrograms.controlPlane,
  'aggregator-counters': servicePrograms.aggregator,
  'aggregator-sink': servicePrograms.aggregator,
  ingest: servicePrograms.ingest,
  'billing-runner': servicePrograms.billingRunner,
  'webhook-dispatcher': servicePrograms.webhookDispatcher,
  'mcp-proxy': servicePrograms.mcpProxy,
  'stripe-simulator': servicePrograms.stripeSimulator,
}

export function servicePart(
  name: AdminService,
  folder: DataFolder,
  addresses: Addresses,
  environment: () => Readonly<Record<string, string | undefined>>,
  silenceMaxMs: number,
): Part {
  return nodePart({
    name,
    entry: programOf[name],
    logPath: join(folder.logs, `${name}.log`),
    liveness: {
      url: `http://${host}:${addresses.adminPorts[name]}/health/live`,
      intervalMs: 2_000,
      silenceMaxMs,
    },
    environment: () => ({
      ...environment(),
      ...ownSettings[name](addresses),
      TOLLGATE_ADMIN_PORT: String(addresses.adminPorts[name]),
    }),
  })
}
