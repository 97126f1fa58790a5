import { readRunFile } from './run-file.ts'

/**
 * Kills what this process started, without waiting for it. Acknowledged usage is on disk, so the next start recovers as
 * after a crash. A part that was still starting is not in the file yet: it ends itself when this process is gone.
 */
export async function endAtOnce(runFile: string): Promise<void> {
  const running = await readRunFile(runFile)
  // Otherwise the file is of an earlier run, whose process numbers may belong to other programs by now.
  if (running?.supervisorPid !== process.pid) return
  for (const [name, pid] of Object.entries(running.processes)) {
    // PostgreSQL ends its own processes at SIGQUIT, also without a checkpoint; SIGKILL would leave them behind.
    signal(pid, name === 'postgres' ? 'SIGQUIT' : 'SIGKILL')
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It has ended.
  }
}
