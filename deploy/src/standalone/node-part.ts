import { spawn, type ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { lastErrorIn } from './last-error.ts'
import { openLogFile } from './log-file.ts'
import { StartRefusedError } from './start-refused.ts'
import type { Part, RunningPart } from './supervise.ts'
import { watchLiveness, type LivenessWatch } from './watch-liveness.ts'

export type NodePartOptions = {
  readonly name: string
  /** JavaScript file that Node runs. */
  readonly entry: string
  /** Called at each launch, because addresses of other parts are only known then. */
  readonly environment: () => Readonly<Record<string, string | undefined>>
  readonly logPath: string
  /** If set, a process that does not answer is killed, so that the supervisor launches it again. */
  readonly liveness?: LivenessWatch
}

const logBytesMax = 10 * 1_048_576
const startTimeoutMs = 120_000
/** Milliseconds that a process has to finish its open work. */
const endTimeoutMs = 20_000

/**
 * Returns a part that runs a service in its own process. The service ends itself when this process has ended, because their IPC
 * channel closes.
 */
export function nodePart(options: NodePartOptions): Part {
  const log = openLogFile(options.logPath, logBytesMax)

  async function launch(giveUp: AbortSignal): Promise<RunningPart> {
    log.startTail()
    const child = spawn(process.execPath, ['--enable-source-maps', options.entry], {
      env: { ...options.environment() },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // The child gets its own session: Ctrl-C in the terminal only reaches the supervisor, which then stops all parts in order.
      detached: true,
    })
    child.stdout?.on('data', (chunk: Uint8Array) => log.write(chunk))
    child.stderr?.on('data', (chunk: Uint8Array) => log.write(chunk))
    const ended = untilEnded(child)
    const kill = (): void => void child.kill('SIGKILL')
    giveUp.addEventListener('abort', kill)
    const { problem, notice } = await untilReady(child, ended)
    giveUp.removeEventListener('abort', kill)
    if (problem !== undefined) {
      const wasKilled = child.signalCode !== null && !giveUp.aborted
      await end(child, ended, 0)
      const { name, logPath } = options
      const reason = wasKilled
        ? `it was killed (${problem}).`
        : (lastErrorIn(log.tail()) ?? problem)
      throw new StartRefusedError(`${name} could not start: ${reason} Log: ${logPath}`, {
        wasKilled,
      })
    }
    const watched = new AbortController()
    watch(child, watched.signal)
    void ended.then(() => watched.abort())
    return {
      pid: child.pid,
      notice,
      ended,
      stop: async () => {
        watched.abort()
        await end(child, ended, endTimeoutMs)
      },
    }
  }

  function watch(child: ChildProcess, signal: AbortSignal): void {
    const { name, liveness } = options
    if (liveness === undefined) return
    const onHung = (): void => {
      log.write(Buffer.from(`${name} has not answered for ${liveness.silenceMaxMs} ms: killed\n`))
      child.kill('SIGKILL')
    }
    void watchLiveness(liveness, onHung, signal)
  }

  return { name: options.name, logPath: options.logPath, launch }
}

type Readiness = {
  /** Reason why the process did not become ready. */
  readonly problem?: string
  /** Message for the operator in the ready message of the process. */
  readonly notice?: string | undefined
}

async function untilReady(child: ChildProcess, ended: Promise<string>): Promise<Readiness> {
  const patience = new AbortController()
  const late = sleep(startTimeoutMs, undefined, patience).then(
    () => ({ problem: `not ready within ${startTimeoutMs} ms.` }),
    () => ({}),
  )
  const ready = new Promise<Readiness>((resolve) => {
    // The first message of a service means that it is ready.
    child.once('message', (message) => {
      const { notice } = message as { readonly notice?: string }
      resolve({ notice })
    })
  })
  const endedEarly = ended.then((problem) => ({ problem }))
  const readiness = await Promise.race([ready, endedEarly, late])
  patience.abort()
  return readiness
}

function untilEnded(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('close', (code, signal) => resolve(signal ?? `exit code ${code}`))
  })
}

async function end(child: ChildProcess, ended: Promise<string>, timeoutMs: number): Promise<void> {
  const patience = new AbortController()
  const late = sleep(timeoutMs, undefined, patience).then(
    () => child.kill('SIGKILL'),
    () => undefined,
  )
  if (timeoutMs > 0) child.kill('SIGTERM')
  await ended
  patience.abort()
  await late
}
