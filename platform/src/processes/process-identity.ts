import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/**
 * Returns when the process was started, in the system's own format. Together with the process id it identifies a process, since ids
 * are reused. Undefined if there is none.
 */
export function startTimeOf(pid: number): string | undefined {
  return process.platform === 'linux' ? statOf(pid)?.[19] : askPs(pid)
}

/** Returns whether the process has exited. A zombie has exited as well; its id stays taken until its parent collects it. */
export function hasEnded(pid: number): boolean {
  return !exists(pid) || isZombie(pid)
}

export function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

export function isZombie(pid: number): boolean {
  return statOf(pid)?.[0] === 'Z'
}

/** Returns the fields of /proc/<pid>/stat from the third on. The process name before them may contain spaces and brackets. */
function statOf(pid: number): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}

function askPs(pid: number): string | undefined {
  try {
    const started = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' })
    return started.trim() || undefined
  } catch {
    return undefined
  }
}
