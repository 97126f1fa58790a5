import { setTimeout as sleep } from 'node:timers/promises'
import { askProcess } from './ask-process.ts'

export type LivenessWatch = {
  /** URL that a living process always answers. Any status counts as an answer. */
  readonly url: string
  readonly intervalMs: number
  /** Milliseconds without any answer after which the process counts as hung. */
  readonly silenceMaxMs: number
}

/**
 * Calls `onHung` if the URL has not answered for too long. A process may hang without being able to notice, for example in a native
 * call that waits for a lock of a killed process. Ends when the signal aborts.
 */
export async function watchLiveness(
  { url, intervalMs, silenceMaxMs }: LivenessWatch,
  onHung: () => void,
  signal: AbortSignal,
): Promise<void> {
  let answeredAtMs = performance.now()
  while (!signal.aborted) {
    await sleep(intervalMs, undefined, { signal }).catch(() => undefined)
    if (await isAnswered(url, intervalMs, signal)) answeredAtMs = performance.now()
    if (signal.aborted) return
    if (performance.now() - answeredAtMs > silenceMaxMs) return onHung()
  }
}

function isAnswered(url: string, timeoutMs: number, signal: AbortSignal): Promise<boolean> {
  return askProcess(url, timeoutMs, signal).then(
    () => true,
    () => false,
  )
}
