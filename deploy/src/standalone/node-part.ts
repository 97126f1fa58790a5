import {
  killIfHung,
  launchService,
  NotReadyError,
  type LaunchedService,
} from '@tollgate/platform/processes/launch-service'
import type { Part, RunningPart } from '@tollgate/platform/processes/supervise'
import type { LivenessWatch } from '@tollgate/platform/processes/watch-liveness'
import { lastErrorIn } from './last-error.ts'
import { openLogFile } from './log-file.ts'
import { StartRefusedError } from './start-refused.ts'

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
/** Milliseconds that a process has to finish its open work. */
const endTimeoutMs = 20_000

/**
 * Returns a part that runs a service in its own process. The service ends itself when this process has ended, because their IPC
 * channel closes.
 */
export function nodePart(options: NodePartOptions): Part & { readonly logPath: string } {
  const { name, entry, logPath } = options
  const log = openLogFile(logPath, logBytesMax)

  async function launch(giveUp: AbortSignal): Promise<RunningPart> {
    log.startTail()
    const environment = options.environment()
    const onOutput = (chunk: Uint8Array): void => log.write(chunk)
    const launched = await launchService(
      { entry, nodeOptions: [], environment, onOutput, endTimeoutMs },
      giveUp,
    ).catch((error: unknown) => {
      throw explain(error)
    })
    const watch = watchHung(launched)
    return {
      ...launched,
      stop: async () => {
        watch?.stop()
        await launched.stop()
      },
    }
  }

  function explain(error: unknown): unknown {
    if (!(error instanceof NotReadyError)) return error
    const { message, wasKilled } = error
    const reason = wasKilled ? `it was killed (${message}).` : (lastErrorIn(log.tail()) ?? message)
    return new StartRefusedError(`${name} could not start: ${reason} Log: ${logPath}`, {
      wasKilled,
    })
  }

  function watchHung(launched: LaunchedService): ReturnType<typeof killIfHung> | undefined {
    const { liveness } = options
    if (liveness === undefined) return undefined
    return killIfHung(launched, liveness, () => {
      log.write(Buffer.from(`${name} has not answered for ${liveness.silenceMaxMs} ms: killed\n`))
    })
  }

  return { name, logPath, launch }
}
