import { setTimeout as sleep } from 'node:timers/promises'
import { livingProcesses } from './living-processes.ts'
import type { RunFile } from './run-file.ts'

/** Services of a supervisor that was killed end themselves; this is how long that may take. */
const patienceMs = 10_000
const pollMs = 25

/**
 * Waits until nothing of an earlier run uses the folder any more: after a `kill -9` of the supervisor alone its
 * services are still ending themselves. What does not end is killed. PostgreSQL is left to its own start, which finds
 * and ends a server that outlived its parent.
 */
export async function endLeftovers({ processes }: RunFile): Promise<void> {
  const services = Object.entries(processes).filter(([name]) => name !== 'postgres')
  const pids = services.map(([, pid]) => pid)
  const deadline = Date.now() + patienceMs
  for (;;) {
    // A number may meanwhile belong to somebody else's process, which must be left alone: ours run a built main file.
    const ours = (await livingProcesses(pids)).filter(({ command }) =>
      /\/dist\/\S*main\.js/.test(command),
    )
    if (ours.length === 0) return
    if (Date.now() > deadline) for (const { pid } of ours) process.kill(pid, 'SIGKILL')
    await sleep(pollMs)
  }
}
