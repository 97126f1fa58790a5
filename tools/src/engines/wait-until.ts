import { setTimeout as sleep } from 'node:timers/promises'

const pollMs = 50

/** Asks until the answer is yes; false when it is not within the time. */
export async function waitUntil(
  isSo: () => boolean | Promise<boolean>,
  timeoutMs: number,
): Promise<boolean> {
  const endMs = Date.now() + timeoutMs
  while (!(await isSo())) {
    if (Date.now() > endMs) return false
    await sleep(pollMs)
  }
  return true
}
