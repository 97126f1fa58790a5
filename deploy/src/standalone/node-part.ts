import { spawn, type ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { lastReason } from './last-reason.ts'
import { openLogFile } from './log-file.ts'
import { StartRefusedError } from './start-refused.ts'
import type { Part, RunningPart } from './supervise.ts'
import { watchLiveness, type LivenessWatch } from './watch-liveness.ts'

export type NodePartOptions = {
  readonly name: string
  /** The JavaScript file that node runs. */
  readonly entry: string
  /** Asked at each launch: addresses of other parts are known by then. */
  readonly environment: () => Readonly<Record<string, string | undefined>>
  readonly logPath: string
  /** A process that hangs is killed, and whoever runs the part launches it again. */
  readonly liveness?: LivenessWatch
}

const logBytesMax = 10 * 1_048_576
const startTimeoutMs = 120_000
/** Time to finish what is in flight. */
const endTimeoutMs = 20_000

/** A service as a process of its own, which ends itself when this process is gone: it holds the other end of a pipe. */
export function nodePart(options: NodePartOptions): Part {
  const log = openLogFile(options.logPath, logBytesMax)

  async function launch(giveUp: AbortSignal): Promise<RunningPart> {
    log.startTail()
    const child = spawn(process.execPath, ['--enable-source-maps', options.entry], {
      env: { ...options.environment() },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // A session of its own: Ctrl-C in the terminal reaches the supervisor only, which then stops all in order.
      detached: true,
    })
    child.stdout?.on('data', (chunk: Uint8Array) => log.write(chunk))
    child.stderr?.on('data', (chunk: Uint8Array) => log.write(chunk))
    const gone = untilGone(child)
    const kill = (): void => void child.kill('SIGKILL')
    giveUp.addEventListener('abort', kill)
    const { problem, notice } = await untilReady(child, gone)
    giveUp.removeEventListener('abort', kill)
    if (problem !== undefined) {
      const wasKilled = child.signalCode !== null && !giveUp.aborted
      await end(child, gone, 0)
      const { name, logPath } = options
      const reason = wasKilled ? `it was killed (${problem}).` : (lastReason(log.tail()) ?? problem)
      throw new StartRefusedError(`${name} could not start: ${reason} Log: ${logPath}`, {
        wasKilled,
      })
    }
    const watched = new AbortController()
    watch(child, watched.signal)
    void gone.then(() => watched.abort())
    return {
      pid: child.pid,
      notice,
      gone,
      end: async () => {
        watched.abort()
        await end(child, gone, endTimeoutMs)
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
  /** Why the process did not get ready. */
  readonly problem?: string
  /** What its ready message asks to be shown to the operator. */
  readonly notice?: string | undefined
}

async function untilReady(child: ChildProcess, gone: Promise<string>): Promise<Readiness> {
  const patience = new AbortController()
  const late = sleep(startTimeoutMs, undefined, patience).then(
    () => ({ problem: `not ready within ${startTimeoutMs} ms.` }),
    () => ({}),
  )
  const ready = new Promise<Readiness>((resolve) => {
    // A service sends its first message when it is ready.
    child.once('message', (message) => {
      const { notice } = message as { readonly notice?: string }
      resolve({ notice })
    })
  })
  const ended = gone.then((problem) => ({ problem }))
  const readiness = await Promise.race([ready, ended, late])
  patience.abort()
  return readiness
}

function untilGone(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('close', (code, signal) => resolve(signal ?? `exit code ${code}`))
  })
}

async function end(child: ChildProcess, gone: Promise<string>, timeoutMs: number): Promise<void> {
  const patience = new AbortController()
  const late = sleep(timeoutMs, undefined, patience).then(
    () => child.kill('SIGKILL'),
    () => undefined,
  )
  if (timeoutMs > 0) child.kill('SIGTERM')
  await gone
  patience.abort()
  await late
}
