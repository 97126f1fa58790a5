import { spawn, type ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { readCredentials, type Credentials } from '@tollgate/deploy/standalone/credentials'
import { dataFolderAt } from '@tollgate/deploy/standalone/data-folder'
import { readRunFile, type RunFile } from '@tollgate/deploy/standalone/run-file'
import { killTree } from './process-tree.ts'

/** Path of the built program that users start. It is used even if this code runs from source. */
const program = fileURLToPath(
  new URL('../../../deploy/dist/bundled/standalone/main.js', import.meta.url),
)

export type Instance = {
  readonly dataDir: string
  readonly credentials: Credentials
  /** Returns the current run file. Process ids change with restarts. */
  runFile(): Promise<RunFile>
  /** Returns everything printed so far. */
  output(): string
  /** Sends SIGINT like Ctrl-C and waits. Resolves to the exit code. */
  stop(): Promise<number>
  /** Kills the whole process tree with `kill -9` at once. */
  kill(): Promise<void>
}

export type InstanceOptions = {
  readonly dataDir: string
  readonly port: number
  /** Environment of the process, including additional settings. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly startTimeoutMs?: number
  /** Called with the supervisor's process id as soon as it is known, so that a caller can disturb the start. */
  readonly onSpawned?: (supervisorPid: number) => void
}

const startTimeoutMs = 120_000
const stopTimeoutMs = 60_000

/** Starts the whole process tree like `npm start`, and waits until it is ready. */
export async function startInstance(options: InstanceOptions): Promise<Instance> {
  const { child, output } = spawnStandalone(options)
  if (child.pid !== undefined) options.onSpawned?.(child.pid)
  await waitUntilReady(child, output, options.startTimeoutMs ?? startTimeoutMs)
  const folder = dataFolderAt(options.dataDir)
  const credentials = await readCredentials(folder.credentialsFile)
  if (!credentials) throw new Error(`No ${folder.credentialsFile} after the start`)
  const gone = waitForExit(child)
  const kill = async (): Promise<void> => {
    if (child.pid !== undefined) await killTree(child.pid)
    await gone
  }

  return {
    dataDir: options.dataDir,
    credentials,
    async runFile() {
      const content = await readRunFile(folder.runFile)
      if (!content) throw new Error(`No ${folder.runFile}`)
      return content
    },
    output,
    async stop() {
      child.kill('SIGINT')
      const code = await Promise.race([gone, sleep(stopTimeoutMs, undefined, { ref: false })])
      if (code !== undefined) return code
      await kill()
      throw new Error(`Did not stop within ${stopTimeoutMs} ms:\n${output()}`)
    },
    kill,
  }
}

/** Runs a start that is expected to fail, and returns its exit code and output. */
export async function runToEnd(
  options: InstanceOptions,
): Promise<{ code: number; output: string }> {
  const { child, output } = spawnStandalone(options)
  return { code: await waitForExit(child), output: output() }
}

function spawnStandalone(options: InstanceOptions): { child: ChildProcess; output: () => string } {
  const child = spawn(process.execPath, [program], {
    env: {
      // Tests run several instances concurrently, so each uses any free port.
      TOLLGATE_MCP_PORT: '0',
      ...options.environment,
      TOLLGATE_DATA_DIR: options.dataDir,
      TOLLGATE_PORT: String(options.port),
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    detached: true,
  })
  let text = ''
  child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (text += chunk.toString()))
  return { child, output: () => text }
}

async function waitUntilReady(
  child: ChildProcess,
  output: () => string,
  timeoutMs: number,
): Promise<void> {
  const ready = new Promise<'ready'>((resolve) => {
    child.on('message', (message) => {
      if ((message as { ready?: unknown }).ready === true) resolve('ready')
    })
  })
  const ended = waitForExit(child).then((code) => `ended with ${code}`)
  const late = sleep(timeoutMs, `not ready within ${timeoutMs} ms`, { ref: false })
  const outcome = await Promise.race([ready, ended, late])
  if (outcome === 'ready') return
  if (child.pid !== undefined) await killTree(child.pid)
  throw new Error(`Tollgate ${outcome}:\n${output()}`)
}

function waitForExit(child: ChildProcess): Promise<number> {
  if (child.exitCode !== null || child.signalCode !== null) {
    return Promise.resolve(child.exitCode ?? -1)
  }
  return new Promise((resolve) => child.once('close', (code) => resolve(code ?? -1)))
}
