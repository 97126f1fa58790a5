import type { DemoFile } from '@tollgate/control-plane/pages/front/demo-file'
import { firstSteps, type Step } from '@tollgate/control-plane/pages/front/first-steps'
import { requestWithRetries } from '../client/request-with-retries.ts'
import { createTollgateClient } from '../client/tollgate-client.ts'
import { createStores } from './create-stores.ts'
import { readCredentials, writeCredentials, type Credentials } from './credentials.ts'
import { checkFormat, makeDataFolder, type DataFolder } from './data-folder.ts'
import { lockFolder } from './folder-lock.ts'
import { endOrphans } from './end-orphans.ts'
import { readRunFile } from './run-file.ts'
import { seedDemo, storyCustomer } from './seed-demo.ts'
import { seedProvider } from './seed-provider.ts'
import { explainFileError } from './start-refused.ts'
import { startSupervisor, type Supervisor, type SupervisorOptions } from './supervisor.ts'
import { writeFileDurably } from './write-file.ts'

export type Installation = {
  readonly credentials: Credentials
  /** Address of the MCP proxy. */
  readonly mcpUrl: string
  /** Example commands for new users. */
  readonly steps: readonly Step[]
  close(): Promise<void>
}

/** Starts an installation with its demo provider on a folder in any state. The folder stays locked until `close`. */
export async function openInstallation(options: SupervisorOptions): Promise<Installation> {
  const { folder } = options
  const explain = (error: unknown): never => {
    throw explainFileError(error, folder.root)
  }
  const lock = await makeDataFolder(folder)
    .then(() => lockFolder(folder.root))
    .catch(explain)
  try {
    await checkFormat(folder).catch(explain)
    const previous = await readRunFile(folder.runFile)
    if (previous) await endOrphans(previous)
    await createStores(folder, options.environment).catch(explain)
    const supervisor = await startSupervisor(options).catch(explain)
    try {
      // Each step can be repeated from its beginning. If a part is killed meanwhile, it is available again after a moment.
      const credentials = await requestWithRetries(() => loadOrSeedCredentials(folder, supervisor))
      const steps = await requestWithRetries(() => prepareSteps(options, supervisor, credentials))
      const close = async (): Promise<void> => {
        await supervisor.stop()
        await lock.release()
      }
      return { credentials, mcpUrl: supervisor.mcpUrl, steps, close }
    } catch (error) {
      await supervisor.stop()
      throw error
    }
  } catch (error) {
    await lock.release()
    throw error
  }
}

/**
 * Returns the credentials, seeding the demo provider if needed. The file is written last: without it, the next start runs the seed
 * again and completes it.
 */
async function loadOrSeedCredentials(
  folder: DataFolder,
  supervisor: Supervisor,
): Promise<Credentials> {
  const { baseUrl } = supervisor
  const known = await readCredentials(folder.credentialsFile)
  if (known?.baseUrl === baseUrl) return known
  const credentials = known ? { ...known, baseUrl } : await seed(supervisor)
  await writeCredentials(folder.credentialsFile, credentials)
  return credentials
}

async function seed({ baseUrl, environment }: Supervisor): Promise<Credentials> {
  const keys = await seedProvider(environment)
  const unfinished = { baseUrl, ...keys, productRef: '' }
  return { ...unfinished, productRef: await withClient(unfinished, seedDemo) }
}

/**
 * Returns the example commands with current values, and writes the file from which the page at `/` builds its own commands. If the
 * file cannot be written, for example on a full disk, the start continues without it.
 */
async function prepareSteps(
  { folder, report }: SupervisorOptions,
  { adminUrls }: Supervisor,
  credentials: Credentials,
): Promise<readonly Step[]> {
  const { baseUrl, sandboxKey, productRef } = credentials
  const { name, externalRef: reference } = storyCustomer
  const { meterRef, callsLeft } = await withClient(credentials, async (client) => ({
    meterRef: await client.requestsMeter(),
    callsLeft: (await client.checkLimit(reference, productRef)).remaining,
  }))
  const shown = { sandboxKey, productRef, meterRef, customer: { name, reference } }
  const healthUrls = Object.fromEntries(
    Object.entries(adminUrls).map(([service, url]) => [service, `${url}/health/ready`]),
  )
  const file: DemoFile = { ...shown, healthUrls }
  await writeFileDurably(folder.demoFile, `${JSON.stringify(file, null, 2)}\n`, 0o600).catch(
    (error: unknown) => report(`Cannot write ${folder.demoFile}: ${String(error)}`),
  )
  return firstSteps({ ...shown, baseUrl, callsLeft, now: new Date() })
}

async function withClient<Result>(
  { baseUrl, sandboxKey }: Credentials,
  use: (client: ReturnType<typeof createTollgateClient>) => Promise<Result>,
): Promise<Result> {
  const client = createTollgateClient({
    baseUrl,
    key: sandboxKey,
    connectionsMax: 1,
    timeoutMs: 30_000,
  })
  try {
    return await use(client)
  } finally {
    client.close()
  }
}
