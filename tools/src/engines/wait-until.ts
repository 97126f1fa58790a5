import { setTimeout as sleep } from 'node:timers/promises'

const pollMs = 50

/** Polls until the condition is true. Returns false after the timeout. */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  timeoutMs: number,
): Promise<boolean> {
  const endMs = Date.now() + timeoutMs
  while (!(await condition())) {
    if (Date.now() > endMs) return false
    await sleep(pollMs)
  }
  return true
}
