import { setTimeout as sleep } from 'node:timers/promises'
import { Interruptions } from './interruptions.ts'

/** One launched process of a part. */
export type RunningPart = {
  readonly pid: number | undefined
  /** Message of the part for the operator. */
  readonly notice?: string | undefined
  /** Resolves with how the process ended, whether it was asked to end or not. */
  readonly ended: Promise<string>
  /** Asks the process to finish, and kills it if it does not end in time. */
  stop(): Promise<void>
}

export type Part = {
  readonly name: string
  /** Path of the log, whose last lines explain a failure, if the part has a log of its own. */
  readonly logPath?: string
  /**
   * Launches a process. Resolves when it is ready, and rejects with the reason if it could not start. Aborts the launch when
   * `giveUp` aborts.
   */
  launch(giveUp: AbortSignal): Promise<RunningPart>
}

export type SupervisedPart = {
  readonly name: string
  /**
   * Launches the part. The first launch is repeated while it fails because other processes are killed. Any other failure rejects.
   * After the first launch, the part is launched again whenever it ends by itself.
   */
  start(): Promise<void>
  /** Ends the part. It is not launched again. */
  stop(): Promise<void>
}

const relaunchDelayMinMs = 100
const relaunchDelayMaxMs = 10_000
/** Milliseconds after which a part counts as recovered. The delay before its next relaunch is then short again. */
const recoveredAfterMs = 30_000
/** Maximum first launches of a part, whatever the reason of its failures. */
const firstLaunchesMax = 30
/**
 * Milliseconds to wait after a failure. A part may fail because a part that it needs has ended, and by then that end is noted too.
 */
const causePauseMs = 250

export function supervise(
  part: Part,
  report: (line: string) => void,
  onLaunched: (name: string, pid: number | undefined) => Promise<void>,
  interruptions = new Interruptions(),
): SupervisedPart {
  let running: RunningPart | undefined
  let launching: Promise<void> | undefined
  const givingUp = new AbortController()
  let isStopping = false
  let delayMs = relaunchDelayMinMs

  async function launchFirst(): Promise<void> {
    for (let launches = 1; ; launches += 1) {
      try {
        await launch()
        if (running?.notice !== undefined) report(running.notice)
        return
      } catch (error) {
        await pause(causePauseMs, givingUp.signal)
        const isWorthIt = launches < firstLaunchesMax && interruptions.isWorthRetry(error, launches)
        if (isStopping || !isWorthIt) throw error
        report(interruptedText(part))
        await relaunchDelay()
      }
    }
  }

  async function relaunchDelay(): Promise<void> {
    await pause(delayMs, givingUp.signal)
    delayMs = Math.min(delayMs * 2, relaunchDelayMaxMs)
  }

  async function launch(): Promise<void> {
    if (isStopping) throw new Error(`${part.name} is not needed any more`)
    const launched = await part.launch(givingUp.signal)
    running = launched
    const launchedAtMs = Date.now()
    void launched.ended.then((ending) => {
      running = undefined
      if (isStopping) return
      interruptions.recordEnd()
      if (Date.now() - launchedAtMs > recoveredAfterMs) delayMs = relaunchDelayMinMs
      launching = relaunch(ending)
    })
    await onLaunched(part.name, launched.pid)
  }

  async function relaunch(ending: string): Promise<void> {
    for (let cause = ending; !isStopping;) {
      report(`${part.name} ended (${cause}); starting it again.${logText(part)}`)
      await relaunchDelay()
      if (isStopping) return
      try {
        await launch()
        interruptions.recordEnd()
        report(`${part.name} runs again`)
        return
      } catch (error) {
        cause = error instanceof Error ? error.message : String(error)
      }
    }
  }

  return {
    name: part.name,
    start: () => (launching = launchFirst()),
    async stop() {
      isStopping = true
      // A launch in progress is completed or aborted first, so that no process is left behind.
      givingUp.abort()
      await launching?.catch(() => undefined)
      await running?.stop()
    },
  }
}

function interruptedText(part: Part): string {
  return `${part.name} was interrupted while it started; starting it again.${logText(part)}`
}

function logText({ logPath }: Part): string {
  return logPath === undefined ? '' : ` Log: ${logPath}`
}

/** Waits. Resolves early if the signal aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return sleep(ms, undefined, { signal }).catch(() => undefined)
}
