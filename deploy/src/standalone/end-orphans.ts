import { setTimeout as sleep } from 'node:timers/promises'
import { runningProcesses } from './running-processes.ts'
import type { RunFile } from './run-file.ts'

/** Milliseconds that the services of a killed supervisor have to end themselves. */
const endWithinMs = 10_000
const pollMs = 25

/**
 * Waits until no process of an earlier run uses the folder. After a `kill -9` of the supervisor, its services need a moment to end
 * themselves. Services that do not end in time are killed. PostgreSQL is not killed here: its own start finds and ends an old
 * server.
 */
export async function endOrphans({ processes }: RunFile): Promise<void> {
  const services = Object.entries(processes).filter(([name]) => name !== 'postgres')
  const pids = services.map(([, pid]) => pid)
  const deadline = Date.now() + endWithinMs
  for (;;) {
    // A process id may now belong to another program, which must not be killed. Tollgate's services run a built main file.
    const ours = (await runningProcesses(pids)).filter(({ command }) =>
      /\/dist\/\S*main\.js/.test(command),
    )
    if (ours.length === 0) return
    if (Date.now() > deadline) for (const { pid } of ours) process.kill(pid, 'SIGKILL')
    await sleep(pollMs)
  }
}
