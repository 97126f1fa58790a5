import { setTimeout as sleep } from 'node:timers/promises'
import { Interruptions } from './interruptions.ts'

/** One launched process of a part. */
export type RunningPart = {
  readonly pid: number | undefined
  /** One line that it wants its operator to read. */
  readonly notice?: string | undefined
  /** Resolves with how it ended, whether it was asked to or not. */
  readonly gone: Promise<string>
  /** Asks it to finish, and kills it when it does not in time. */
  end(): Promise<void>
}

export type Part = {
  readonly name: string
  /** Where its last words are. */
  readonly logPath: string
  /** Resolves when it is ready to work; rejects with the reason it could not start. Gives up when told to. */
  launch(giveUp: AbortSignal): Promise<RunningPart>
}

export type SupervisedPart = {
  readonly name: string
  /**
   * The first launch, repeated while processes are killed meanwhile; any other failure is the caller's. From then on the
   * part is launched again whenever it ends by itself.
   */
  start(): Promise<void>
  /** Ends it for good. */
  stop(): Promise<void>
}

const relaunchDelayMinMs = 100
const relaunchDelayMaxMs = 10_000
/** One that ran this long has recovered: its next relaunch is quick again. */
const steadyAfterMs = 30_000
/** A part that fails more often than this before it is ready does not start, whatever the reason. */
const firstLaunchesMax = 30
/** A part fails together with one that it needs: by then the end of that one is noted, too. */
const noticeMs = 250

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
        await pause(noticeMs, givingUp.signal)
        const isWorthIt = launches < firstLaunchesMax && interruptions.explains(error, launches)
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
    void launched.gone.then((ending) => {
      running = undefined
      if (isStopping) return
      interruptions.note()
      if (Date.now() - launchedAtMs > steadyAfterMs) delayMs = relaunchDelayMinMs
      launching = relaunch(ending)
    })
    await onLaunched(part.name, launched.pid)
  }

  async function relaunch(ending: string): Promise<void> {
    for (let cause = ending; !isStopping;) {
      report(`${part.name} ended (${cause}); starting it again. Log: ${part.logPath}`)
      await relaunchDelay()
      if (isStopping) return
      try {
        await launch()
        interruptions.note()
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
      // A launch under way comes to its end first, so that nothing is left behind.
      givingUp.abort()
      await launching?.catch(() => undefined)
      await running?.end()
    },
  }
}

function interruptedText({ name, logPath }: Part): string {
  return `${name} was interrupted while it started; starting it again. Log: ${logPath}`
}

/** Ends early when it is aborted. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return sleep(ms, undefined, { signal }).catch(() => undefined)
}
