import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { hasEnded } from '@tollgate/platform/processes/process-identity'

const run = promisify(execFile)

/** Returns the process and all its descendants, children before parents. */
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

/** Kills the whole process tree with `kill -9`, as close to the same instant as possible. */
export async function killTree(rootPid: number): Promise<void> {
  for (const pid of await processTree(rootPid)) killProcess(pid)
}

/**
 * Kills all descendants of this process with `kill -9`, and repeats this until none is left. No supervisor may start them again
 * meanwhile.
 */
export async function killDescendants(): Promise<void> {
  for (;;) {
    const below = (await processTree(process.pid)).filter((pid) => pid !== process.pid)
    // One of them is the process that listed the others, and has ended.
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
    // The process has already ended.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Returns the resident memory of the processes in bytes. Pages that several processes share are counted in each of them. */
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
 * Returns the private memory of a process in bytes. It excludes mapped files, through which the embedded stores read and which the
 * system can reclaim. If the system does not distinguish them, it returns all resident memory.
 */
export async function ownBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const kilobytes = /^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1]
  return kilobytes === undefined ? residentBytes([pid]) : Number(kilobytes) * 1024
}
