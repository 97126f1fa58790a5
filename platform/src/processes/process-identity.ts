import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/**
 * When the process of that number started, as the system words it: together with the number it tells the process from
 * a later one that was given the same number. Undefined when there is none.
 */
export function startTimeOf(pid: number): string | undefined {
  return process.platform === 'linux' ? statOf(pid)?.[19] : askPs(pid)
}

/** Gone, or a zombie: it has ended, and its number stays taken until its parent asks. */
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

/** /proc/<pid>/stat from its third field on; the name before it may hold spaces and brackets. */
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
