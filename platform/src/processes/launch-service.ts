import { spawn, type ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RunningPart } from './supervise.ts'
import { watchLiveness, type LivenessWatch } from './watch-liveness.ts'

/** A process ended, or took too long, before it was ready. The message is the reason. */
export class NotReadyError extends Error {
  override readonly name = 'NotReadyError'
  /** Whether the process was killed. The same launch may succeed when it is repeated. */
  readonly wasKilled: boolean

  constructor(message: string, wasKilled: boolean) {
    super(message)
    this.wasKilled = wasKilled
  }
}

export type ServiceLaunch = {
  /** JavaScript file that Node runs. */
  readonly entry: string
  readonly parameters?: readonly string[]
  /** Options of Node. */
  readonly nodeOptions: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Receives the output of the process. If it is missing, the process writes to the output of this process. */
  readonly onOutput?: (chunk: Uint8Array) => void
  /** Milliseconds that the process has to finish its open work after a stop. Then it is killed. */
  readonly endTimeoutMs: number
}

/** Facts in the ready message of a service. */
export type ReadyFacts = Readonly<Record<string, unknown>>

export type LaunchedService = RunningPart & {
  readonly facts: ReadyFacts
  kill(): void
}

const startTimeoutMs = 120_000

/**
 * Runs a service in its own process and waits until it is ready. The service ends itself when this process has ended, because their
 * IPC channel closes. Throws a NotReadyError, and leaves no process behind, if it does not become ready or if `giveUp` aborts.
 */
export async function launchService(
  { entry, parameters = [], nodeOptions, environment, onOutput, endTimeoutMs }: ServiceLaunch,
  giveUp: AbortSignal,
): Promise<LaunchedService> {
  const output = onOutput === undefined ? 'inherit' : 'pipe'
  const child = spawn(process.execPath, [...nodeOptions, entry, ...parameters], {
    env: { ...environment },
    stdio: ['ignore', output, output, 'ipc'],
    // The child gets its own session: Ctrl-C in the terminal only reaches the parent, which then stops all children in order.
    detached: true,
  })
  if (onOutput !== undefined)
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', onOutput)
  const ended = untilEnded(child)
  const kill = (): void => void child.kill('SIGKILL')
  giveUp.addEventListener('abort', kill)
  if (giveUp.aborted) kill()
  const { problem, facts } = await untilReady(child, ended)
  giveUp.removeEventListener('abort', kill)
  if (problem !== undefined) {
    const wasKilled = child.signalCode !== null && !giveUp.aborted
    await end(child, ended, 0)
    throw new NotReadyError(problem, wasKilled)
  }
  const notice = facts?.['notice']
  return {
    pid: child.pid,
    notice: typeof notice === 'string' ? notice : undefined,
    facts: facts ?? {},
    ended,
    kill,
    stop: () => end(child, ended, endTimeoutMs),
  }
}

/** Kills the service if it does not answer for too long. `onHung` is called before. Ends when the service has ended. */
export function killIfHung(
  service: Pick<LaunchedService, 'ended' | 'kill'>,
  liveness: LivenessWatch,
  onHung: () => void,
): { stop(): void } {
  const watched = new AbortController()
  const kill = (): void => {
    onHung()
    service.kill()
  }
  void watchLiveness(liveness, kill, watched.signal)
  void service.ended.then(() => watched.abort())
  return { stop: () => watched.abort() }
}

type Readiness = {
  /** Reason why the process did not become ready. */
  readonly problem?: string
  readonly facts?: ReadyFacts
}

async function untilReady(child: ChildProcess, ended: Promise<string>): Promise<Readiness> {
  const patience = new AbortController()
  const late = sleep(startTimeoutMs, undefined, patience).then(
    () => ({ problem: `not ready within ${startTimeoutMs} ms.` }),
    () => ({}),
  )
  // The first message of a service means that it is ready, unless it has a reason why the service could not start.
  const told = new Promise<Readiness>((resolve) => {
    child.once('message', (message) => {
      const { problem, ...facts } = message as ReadyFacts
      resolve(typeof problem === 'string' ? { problem } : { facts })
    })
  })
  const endedEarly = ended.then((problem) => ({ problem }))
  const readiness = await Promise.race([told, endedEarly, late])
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
