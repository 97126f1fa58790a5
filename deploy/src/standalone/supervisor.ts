import { readSettings } from '@tollgate/platform/config/settings'
import { passwordIn } from '../engines/secret.ts'
import type { DataFolder } from './data-folder.ts'
import { Interruptions } from './interruptions.ts'
import { postgresPart } from './postgres-part.ts'
import { host, requireFreePort } from './ports.ts'
import { createRunFilePublisher, removeRunFile, type RunFile } from './run-file.ts'
import {
  adminUrls,
  chooseAddresses,
  clickhousePart,
  newClickhousePassword,
  newStripeWebhookSecret,
  servicePart,
  sharedEnvironment,
  unlessGiven,
  type Addresses,
  type Shared,
} from './services.ts'
import { standaloneSettings } from './settings.ts'
import { StartRefusedError } from './start-refused.ts'
import { ownStores, simulatesStripe } from './stores.ts'
import { supervise, type Part, type SupervisedPart } from './supervise.ts'

export type Supervisor = {
  readonly baseUrl: string
  /** The operator's door by service. */
  readonly adminUrls: Readonly<Record<string, string>>
  /** What the services were started with. */
  readonly environment: Readonly<Record<string, string | undefined>>
  stop(): Promise<void>
}

export type SupervisorOptions = {
  readonly folder: DataFolder
  /** 0 takes any free one. */
  readonly port: number
  /** A service that has not answered for so long is killed and started again. */
  readonly hungAfterSeconds: number
  /** Whether the page at `/` shows the demo provider. */
  readonly hasDemoPage: boolean
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly report: (line: string) => void
}

/**
 * Starts everything and keeps it running. What needs nothing of the others starts at once, so that usage is taken
 * again as early as can be. When one part cannot start, all are stopped and its reason is thrown.
 */
export async function startSupervisor(options: SupervisorOptions): Promise<Supervisor> {
  const { folder, report } = options
  const addresses = await chooseFreeAddresses(options)
  const baseUrl = `http://${host}:${addresses.publicPort}`
  const shared = newShared(options, addresses, await passwordIn(folder.dataTeam))
  const environment = (): Record<string, string | undefined> => ({
    ...unlessGiven,
    ...options.environment,
    ...sharedEnvironment(shared),
  })
  const startedAt = new Date().toISOString()
  const describe = (processes: Readonly<Record<string, number>>): RunFile => ({
    supervisorPid: process.pid,
    baseUrl,
    startedAt,
    processes,
    adminUrls: adminUrls(addresses),
    environment: { ...storeSettings(options.environment), ...sharedEnvironment(shared) },
  })
  // A start that fails has one reason to tell; what happened to this file is told once the start is done.
  const heldLines: string[] = []
  let tell = (line: string): void => void heldLines.push(line)
  const publish = createRunFilePublisher(folder.runFile, describe, (line) => tell(line))

  const interruptions = new Interruptions()
  const supervised = (part: Part): SupervisedPart => supervise(part, report, publish, interruptions)
  const stores = storeParts(shared, environment)
  const service = (name: Parameters<typeof servicePart>[0]): SupervisedPart =>
    supervised(servicePart(name, folder, addresses, environment, options.hungAfterSeconds * 1_000))
  const parts = {
    postgres: stores.postgres && supervised(stores.postgres),
    clickhouse: stores.clickhouse && supervised(stores.clickhouse),
    controlPlane: service('control-plane'),
    counters: service('aggregator-counters'),
    sink: service('aggregator-sink'),
    ingest: service('ingest'),
    billingRunner: service('billing-runner'),
    webhookDispatcher: service('webhook-dispatcher'),
    stripe: shared.stripeWebhookSecret !== undefined ? service('stripe-simulator') : undefined,
  }

  /** Ingest first: the projections see everything it took before they stop, and nobody asks a part that is gone. */
  const stop = async (): Promise<void> => {
    await parts.ingest.stop()
    await Promise.all([parts.sink.stop(), parts.counters.stop()])
    await Promise.all([parts.billingRunner.stop(), parts.controlPlane.stop()])
    await parts.webhookDispatcher.stop()
    await parts.stripe?.stop()
    await parts.clickhouse?.stop()
    await parts.postgres?.stop()
    await removeRunFile(folder.runFile)
  }

  const starts = [
    parts.ingest.start(),
    parts.counters.start(),
    parts.sink.start(),
    parts.clickhouse?.start() ?? nothing,
    parts.stripe?.start() ?? nothing,
    (parts.postgres?.start() ?? nothing)
      .then(() => parts.controlPlane.start())
      .then(() => Promise.all([parts.billingRunner.start(), parts.webhookDispatcher.start()])),
  ]
  try {
    await Promise.all(starts)
  } catch (error) {
    await stop()
    await Promise.allSettled(starts)
    throw error
  }
  tell = report
  heldLines.forEach(report)
  return { baseUrl, adminUrls: adminUrls(addresses), environment: environment(), stop }
}

const nothing = Promise.resolve()

async function chooseFreeAddresses({ port, environment }: SupervisorOptions): Promise<Addresses> {
  if (port !== 0) await requireFreePort(port, 'TOLLGATE_PORT')
  const { clickhousePort } = readSettings(
    { clickhousePort: standaloneSettings.clickhousePort },
    environment,
  )
  if (clickhousePort !== 0 && ownStores(environment).clickhouse) {
    if (clickhousePort === port) {
      throw new StartRefusedError(
        `TOLLGATE_PORT and TOLLGATE_CLICKHOUSE_PORT are both ${port}. Choose another port for one of them.`,
      )
    }
    await requireFreePort(clickhousePort, 'TOLLGATE_CLICKHOUSE_PORT')
  }
  return await chooseAddresses(port, clickhousePort)
}

/** Passwords live as long as one run, but for that of people. */
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
    clickhousePassword: newClickhousePassword(),
    clickhouseReaderPassword,
    stripeWebhookSecret: simulatesStripe(environment) ? newStripeWebhookSecret() : undefined,
  }
}

/** The stores that this process runs. */
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

/** What commands that work with this installation need to find the same stores, wherever it was said. */
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
