import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { hasEnded } from '@tollgate/platform/processes/process-identity'

const run = promisify(execFile)

/** The process and everything below it, children before parents. */
export async function processTree(rootPid: number): Promise<number[]> {
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid='])
  const children = new Map<number, number[]>()
  for (const line of stdout.split('\n')) {
    const [pid, parent] = line.trim().split(/\s+/).map(Number)
    if (pid === undefined || parent === undefined) continue
    const siblings = children.get(parent)
    if (siblings) siblings.push(pid)
    else children.set(parent, [pid])
  }
  const tree = [rootPid]
  for (let at = 0; at < tree.length; at++) tree.push(...(children.get(tree[at]!) ?? []))
  return tree.reverse()
}

/** `kill -9` for the whole tree, as close to one instant as signals allow. */
export async function killTree(rootPid: number): Promise<void> {
  for (const pid of await processTree(rootPid)) killProcess(pid)
}

/** `kill -9` for everything below this process, until nothing of it is left. Nobody may start any of it again. */
export async function killDescendants(): Promise<void> {
  for (;;) {
    const below = (await processTree(process.pid)).filter((pid) => pid !== process.pid)
    // One of them is the process that made the list.
    const living = below.filter((pid) => !hasEnded(pid))
    if (living.length === 0) return
    for (const pid of living) killProcess(pid)
    await sleep(pollMs)
  }
}

const pollMs = 20

export function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    // Already gone.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Resident memory of the whole tree in bytes; pages that several processes share are counted in each. */
async function residentBytes(pids: readonly number[]): Promise<number> {
  const { stdout } = await run('ps', ['-o', 'rss=', '-p', pids.join(',')]).catch(() => ({
    stdout: '',
  }))
  return stdout
    .split('\n')
    .map((line) => Number(line.trim()) * 1024)
    .reduce((sum, bytes) => sum + bytes, 0)
}

/**
 * Memory that a process has to itself, in bytes. Without mapped files, which the embedded stores read through and the
 * system takes back when it needs the room; where the system does not tell them apart, all that is resident.
 */
export async function ownBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const kilobytes = /^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1]
  return kilobytes === undefined ? residentBytes([pid]) : Number(kilobytes) * 1024
}
