import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

export type RunningProcess = { readonly pid: number; readonly command: string }

/** Returns the running processes among the given ids. A zombie has already ended. */
export async function runningProcesses(pids: readonly number[]): Promise<RunningProcess[]> {
  if (pids.length === 0) return []
  const columns = ['-o', 'pid=,stat=,args=', '-p', pids.join(',')]
  // `ps` fails if none of the processes exists.
  const { stdout } = await run('ps', columns).catch(() => ({ stdout: '' }))
  const living: RunningProcess[] = []
  for (const line of stdout.split('\n')) {
    const [, pid, state, command] = /^\s*(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? []
    if (pid === undefined || state?.startsWith('Z') || command === undefined) continue
    living.push({ pid: Number(pid), command })
  }
  return living
}
