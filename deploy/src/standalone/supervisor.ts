import { randomBytes } from 'node:crypto'
import { readSettings } from '@tollgate/platform/config/settings'
import { readOrCreatePassword } from './password-file.ts'
import type { DataFolder } from './data-folder.ts'
import { Interruptions } from '@tollgate/platform/processes/interruptions'
import { postgresPart } from './postgres-part.ts'
import { host, requireFreePort } from './ports.ts'
import { createRunFileUpdater, removeRunFile, type RunFile } from './run-file.ts'
import {
  adminUrls,
  chooseAddresses,
  clickhousePart,
  mcpUrls,
  servicePart,
  sharedEnvironment,
  defaultEnvironment,
  type Addresses,
  type Shared,
} from './services.ts'
import { standaloneSettings } from '../settings/standalone-settings.ts'
import { StartRefusedError } from './start-refused.ts'
import { ownStores, simulatesStripe } from './stores.ts'
import { supervise, type Part, type SupervisedPart } from '@tollgate/platform/processes/supervise'

export type Supervisor = {
  readonly baseUrl: string
  /** Address of the MCP proxy. */
  readonly mcpUrl: string
  /** Admin URL (health, metrics) by service. */
  readonly adminUrls: Readonly<Record<string, string>>
  /** Environment with which the services were started. */
  readonly environment: Readonly<Record<string, string | undefined>>
  stop(): Promise<void>
}

export type SupervisorOptions = {
  readonly folder: DataFolder
  /** 0 selects any free port. */
  readonly port: number
  /** Seconds without an answer after which a service is killed and started again. */
  readonly hungAfterSeconds: number
  /** Whether the page at `/` shows the demo provider. */
  readonly hasDemoPage: boolean
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly report: (line: string) => void
}

/**
 * Starts all parts and keeps them running. Parts without dependencies start immediately, so that usage is accepted as early as
 * possible. If one part cannot start, all are stopped and its error is thrown.
 */
export async function startSupervisor(options: SupervisorOptions): Promise<Supervisor> {
  const { folder, report } = options
  const addresses = await chooseFreeAddresses(options)
  const baseUrl = `http://${host}:${addresses.publicPort}`
  const mcpUrl = `http://${host}:${addresses.mcpPort}`
  const shared = newShared(options, addresses, await readOrCreatePassword(folder.dataTeam))
  const environment = (): Record<string, string | undefined> => ({
    ...defaultEnvironment,
    ...mcpUrls(addresses),
    ...options.environment,
    ...sharedEnvironment(shared),
  })
  const startedAt = new Date().toISOString()
  const describe = (processes: Readonly<Record<string, number>>): RunFile => ({
    supervisorPid: process.pid,
    baseUrl,
    mcpUrl,
    startedAt,
    processes,
    adminUrls: adminUrls(addresses),
    environment: { ...storeSettings(options.environment), ...sharedEnvironment(shared) },
  })
  // Errors of the run file are reported only after a successful start, so that a failed start shows only its own reason.
  const heldLines: string[] = []
  let tell = (line: string): void => void heldLines.push(line)
  const publish = createRunFileUpdater(folder.runFile, describe, (line) => tell(line))

  const interruptions = new Interruptions()
  const parts = supervisedParts(options, shared, environment, (part) =>
    supervise(part, report, publish, interruptions),
  )
  const stop = async (): Promise<void> => {
    await stopParts(parts)
    await removeRunFile(folder.runFile)
  }
  const starts = startParts(parts)
  try {
    await Promise.all(starts)
  } catch (error) {
    await stop()
    await Promise.allSettled(starts)
    throw error
  }
  tell = report
  heldLines.forEach(report)
  return { baseUrl, mcpUrl, adminUrls: adminUrls(addresses), environment: environment(), stop }
}

type SupervisedParts = ReturnType<typeof supervisedParts>

function supervisedParts(
  { folder, hungAfterSeconds }: SupervisorOptions,
  shared: Shared,
  environment: () => Readonly<Record<string, string | undefined>>,
  supervised: (part: Part) => SupervisedPart,
) {
  const { addresses, stripeWebhookSecret } = shared
  const stores = storeParts(shared, environment)
  const service = (name: Parameters<typeof servicePart>[0]): SupervisedPart =>
    supervised(servicePart(name, folder, addresses, environment, hungAfterSeconds * 1_000))
  return {
    postgres: stores.postgres && supervised(stores.postgres),
    clickhouse: stores.clickhouse && supervised(stores.clickhouse),
    controlPlane: service('control-plane'),
    counters: service('aggregator-counters'),
    sink: service('aggregator-sink'),
    ingest: service('ingest'),
    billingRunner: service('billing-runner'),
    webhookDispatcher: service('webhook-dispatcher'),
    mcpProxy: service('mcp-proxy'),
    stripe: stripeWebhookSecret !== undefined ? service('stripe-simulator') : undefined,
  }
}

/** Starts the parts. Those without dependencies start immediately. */
function startParts(parts: SupervisedParts): Promise<unknown>[] {
  return [
    parts.ingest.start(),
    parts.counters.start(),
    parts.sink.start(),
    parts.clickhouse?.start() ?? started,
    parts.stripe?.start() ?? started,
    (parts.postgres?.start() ?? started)
      .then(() => parts.controlPlane.start())
      .then(() =>
        Promise.all([
          parts.billingRunner.start(),
          parts.webhookDispatcher.start(),
          parts.mcpProxy.start(),
        ]),
      ),
  ]
}

/**
 * Stops the parts in order. The MCP proxy stops first, because it sends its last records to ingest. Ingest stops next, so that the
 * projections process everything it accepted before they stop. No part sends requests to one that has already stopped.
 */
async function stopParts(parts: SupervisedParts): Promise<void> {
  await parts.mcpProxy.stop()
  await parts.ingest.stop()
  await Promise.all([parts.sink.stop(), parts.counters.stop()])
  await Promise.all([parts.billingRunner.stop(), parts.controlPlane.stop()])
  await parts.webhookDispatcher.stop()
  await parts.stripe?.stop()
  await parts.clickhouse?.stop()
  await parts.postgres?.stop()
}

const started = Promise.resolve()

async function chooseFreeAddresses({ port, environment }: SupervisorOptions): Promise<Addresses> {
  const { clickhousePort: clickhouseSetting, mcpPort: mcpSetting } = standaloneSettings
  const { clickhousePort, mcpPort } = readSettings(
    { clickhousePort: clickhouseSetting, mcpPort: mcpSetting },
    // With port 0, several installations may run on the machine, so the MCP port is also any free one.
    { ...(port === 0 && { [mcpSetting.variable]: '0' }), ...environment },
  )
  const chosen = [
    ['TOLLGATE_PORT', port],
    ['TOLLGATE_MCP_PORT', mcpPort],
    ['TOLLGATE_CLICKHOUSE_PORT', ownStores(environment).clickhouse ? clickhousePort : 0],
  ] as const
  const taken = new Map<number, string>()
  for (const [variable, wanted] of chosen) {
    if (wanted === 0) continue
    const other = taken.get(wanted)
    if (other !== undefined) {
      throw new StartRefusedError(
        `${other} and ${variable} are both ${wanted}. Choose another port for one of them.`,
      )
    }
    taken.set(wanted, variable)
  }
  for (const [wanted, variable] of taken) await requireFreePort(wanted, variable)
  return await chooseAddresses({ publicPort: port, mcpPort, clickhousePort })
}

/** Returns the state shared by the parts. All passwords last for one run, except the read-only password that people use. */
function newShared(
  { folder, environment, hasDemoPage }: SupervisorOptions,
  addresses: Addresses,
  clickhouseReaderPassword: string,
): Shared {
  return {
    folder,
    hasDemoPage,
    addresses,
    own: ownStores(environment),
    databaseUrl: '',
    clickhousePassword: randomBytes(24).toString('base64url'),
    clickhouseReaderPassword,
    stripeWebhookSecret: simulatesStripe(environment)
      ? `whsec_${randomBytes(24).toString('hex')}`
      : undefined,
  }
}

/** Returns the stores that this process runs. */
function storeParts(
  shared: Shared,
  environment: () => Readonly<Record<string, string | undefined>>,
): { readonly postgres: Part | undefined; readonly clickhouse: Part | undefined } {
  const { folder, addresses, own } = shared
  return {
    postgres: own.postgres
      ? postgresPart(folder.postgres, addresses.postgresPort, (url) => (shared.databaseUrl = url))
      : undefined,
    clickhouse: own.clickhouse ? clickhousePart(folder, addresses, environment) : undefined,
  }
}

/** Returns the settings that commands need to find the same stores. */
function storeSettings(
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const isOfStore =
    /^TOLLGATE_(EVENT_LOG|HOT_STATE|KAFKA|SCHEMA_REGISTRY|REDIS|CLICKHOUSE|DATABASE)(_|$)/
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      value !== undefined && isOfStore.test(name) ? [[name, value]] : [],
    ),
  )
}
