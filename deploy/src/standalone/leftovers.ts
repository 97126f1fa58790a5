import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RunFile } from './run-file.ts'

const run = promisify(execFile)
/** Services of a supervisor that was killed end themselves; this is how long that may take. */
const patienceMs = 10_000
const pollMs = 25

/**
 * Waits until nothing of an earlier run uses the folder any more: after a `kill -9` of the supervisor alone its
 * services are still ending themselves. What does not end is killed. PostgreSQL is left to its own start, which finds
 * and ends a server that outlived its parent.
 */
export async function endLeftovers(previous: RunFile): Promise<void> {
  const pids = Object.entries(previous.processes)
    .filter(([name]) => name !== 'postgres')
    .map(([, pid]) => pid)
  const deadline = Date.now() + patienceMs
  for (;;) {
    const alive = await stillOurs(pids)
    if (alive.length === 0) return
    if (Date.now() > deadline) {
      for (const pid of alive) process.kill(pid, 'SIGKILL')
    }
    await sleep(pollMs)
  }
}

/** A number may meanwhile belong to somebody else's process, which must be left alone: ours run a file of this code. */
async function stillOurs(pids: readonly number[]): Promise<number[]> {
  const alive = pids.filter(isAlive)
  if (alive.length === 0) return []
  const { stdout } = await run('ps', ['-o', 'pid=,stat=,args=', '-p', alive.join(',')]).catch(
    () => ({
      stdout: '',
    }),
  )
  return stdout
    .split('\n')
    .filter((line) => /dist\/\S*main\.js/.test(line) && !/^\s*\d+\s+Z/.test(line))
    .map((line) => Number.parseInt(line, 10))
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
