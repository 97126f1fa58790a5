import type { TemporaryFolder } from '@tollgate/deploy/standalone/temporary-folder'
import { unlessAborted } from '@tollgate/platform/waiting/unless-aborted'
import { flushText, isFlushExact } from './flush-report.ts'
import { startFlush } from './run-flush.ts'

export type FlushFlags = {
  readonly seed: number
  readonly customers: number
  readonly rate: number
  readonly load: number
  readonly replay: number
}

const afterMs = 10_000
/** Milliseconds until everything must be rebuilt, with hundreds of thousands of customers. */
const timeoutMs = 900_000

/** Runs the flush and reports progress, until the signal aborts. Returns true if everything was exact. */
export async function runFlushCommand(
  flags: FlushFlags,
  folder: TemporaryFolder,
  environment: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<boolean> {
  const options = {
    folder: folder.path,
    environment,
    seed: flags.seed,
    customers: flags.customers,
    rate: flags.rate,
    beforeMs: flags.load * 1000,
    afterMs,
    replayRecordsMax: flags.replay,
    timeoutMs,
    print: (line: string): void => console.log(line),
  }
  const flush = startFlush(options)
  try {
    const outcome = await unlessAborted(flush.outcome, signal)
    console.log(`\n${flushText(options, outcome)}`)
    return isFlushExact(outcome)
  } finally {
    await flush.end()
  }
}
