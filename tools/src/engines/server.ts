import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { followParent, type Launcher } from '@tollgate/platform/database/embedded/launcher'
import { startTimeOf } from '@tollgate/platform/processes/process-identity'
import { requireFreePort } from '@tollgate/deploy/standalone/ports'
import { StartRefusedError } from '@tollgate/deploy/standalone/start-refused'
import type { EngineName } from './engine-names.ts'
import type { EngineOptions, RunningServer } from './engine.ts'
import {
  isRunning,
  readProcessRecord,
  writeProcessRecord,
  type ProcessRecord,
} from './process-record.ts'
import { stopRecorded } from './stop-recorded.ts'
import { waitUntil } from './wait-until.ts'

/** One process of an engine: how it is started, and how its readiness is checked. */
export type Server = {
  readonly engine: EngineName
  readonly name: string
  readonly port: number
  /** Environment variable that changes the port if it is in use. */
  readonly portVariable: string
  /** Signal that stops the server cleanly. */
  readonly stopSignal: NodeJS.Signals
  /** Creates missing files. Called before each launch with the server's folder. */
  prepare(folder: string): Promise<Command>
  /** Checks by a request to the server, and answers within seconds. */
  isReady(): Promise<boolean>
}

export type Command = {
  readonly file: string
  readonly args: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** Account that runs the server, if it is not that of this process. */
  readonly account?: Launcher
}

/** Java 17 uses the text encoding of the locale. */
const plainEnvironment = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C.UTF-8', TZ: 'UTC' }
const startTimeoutMs = 180_000
const portTimeoutMs = 5_000
const pollMs = 50
const progressMs = 5_000

/**
 * Returns the server of that name in the folder, and starts it if it is not running. Waits until it is ready. A server that was
 * killed is started again on its existing data.
 */
export async function startServer(server: Server, options: EngineOptions): Promise<RunningServer> {
  const folder = join(options.root, server.name)
  const found = readProcessRecord(folder)
  if (found && isRunning(found)) {
    if (found.port !== server.port) throw portChanged(server, found)
    if (await becomesReady(server, found, options.print)) return toRunningServer(folder, found)
  }
  await waitUntilPortIsFree(server)
  mkdirSync(folder, { recursive: true })
  const command = await server.prepare(folder)
  options.print(`${server.name}: starting on port ${server.port} ...`)
  const startedAtMs = Date.now()
  const record = await launch(server, command, folder, options)
  try {
    if (!(await becomesReady(server, record, options.print))) throw endedEarly(record)
  } catch (error) {
    await stopRecorded(folder)
    throw error
  }
  options.print(`${server.name}: ready after ${((Date.now() - startedAtMs) / 1000).toFixed(1)} s`)
  return toRunningServer(folder, record)
}

/**
 * Starts the process in its own session with its output in a file. It outlives this command, and Ctrl-C in the terminal does not
 * reach it. Only the necessary part of the environment is passed on.
 */
async function launch(
  server: Server,
  command: Command,
  folder: string,
  options: EngineOptions,
): Promise<ProcessRecord> {
  const logs = join(options.root, 'logs')
  mkdirSync(logs, { recursive: true })
  const logPath = join(logs, `${server.name}.log`)
  const { prefix = [], uid, gid } = command.account ?? {}
  const follow = options.endsWithParent ? followParent('KILL') : []
  const [file = command.file, ...args] = [...prefix, ...follow, command.file, ...command.args]
  const log = openSync(logPath, 'a')
  let child: ChildProcess
  try {
    child = spawn(file, args, {
      cwd: folder,
      detached: true,
      stdio: ['ignore', log, log],
      env: { ...plainEnvironment, ...command.environment },
      ...(uid === undefined ? {} : { uid }),
      ...(gid === undefined ? {} : { gid }),
    })
  } finally {
    closeSync(log)
  }
  const { pid } = child
  if (pid === undefined) {
    return await new Promise((_, reject) => child.once('error', reject))
  }
  const { engine, name, port, stopSignal } = server
  const record = { engine, name, pid, startTime: startTimeOf(pid), port, stopSignal, logPath }
  writeProcessRecord(folder, record)
  child.unref()
  return record
}

/** Waits for the port. A killed process counts as ended shortly before its last threads release the port. */
async function waitUntilPortIsFree({ port, portVariable }: Server): Promise<void> {
  const isFree = (): Promise<boolean> =>
    requireFreePort(port, portVariable).then(
      () => true,
      () => false,
    )
  if (!(await waitUntil(isFree, portTimeoutMs))) await requireFreePort(port, portVariable)
}

/** Returns false if the process ends before it is ready. */
async function becomesReady(
  server: Server,
  record: ProcessRecord,
  print: (line: string) => void,
): Promise<boolean> {
  const startedAtMs = Date.now()
  let nextProgressMs = progressMs
  while (isRunning(record)) {
    if (await server.isReady()) return true
    const waitedMs = Date.now() - startedAtMs
    if (waitedMs > startTimeoutMs) {
      throw new StartRefusedError(
        `${record.name} (process ${record.pid}) does not answer on port ${record.port} after ` +
          `${startTimeoutMs / 1000} s. npm run engines:down stops it. Log: ${record.logPath}`,
      )
    }
    if (waitedMs > nextProgressMs) {
      print(`${record.name}: not ready yet after ${Math.round(waitedMs / 1000)} s ...`)
      nextProgressMs += progressMs
    }
    await sleep(pollMs)
  }
  return false
}

function toRunningServer(folder: string, record: ProcessRecord): RunningServer {
  const { name, pid, port, logPath } = record
  return { name, pid, port, logPath, stop: () => stopRecorded(folder) }
}

function portChanged(server: Server, found: ProcessRecord): StartRefusedError {
  return new StartRefusedError(
    `${server.name} already runs on port ${found.port}; run npm run engines:down before moving it to ${server.port}.`,
  )
}

const lastLines = 8

function endedEarly({ name, logPath }: ProcessRecord): StartRefusedError {
  const tail = readFileSync(logPath, 'utf8').trimEnd().split('\n').slice(-lastLines).join('\n')
  return new StartRefusedError(`${name} ended before it was ready. Log: ${logPath}\n${tail}`)
}
