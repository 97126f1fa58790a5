import { readRunFile } from './run-file.ts'

/**
 * Kills the processes that this process started, without waiting for them. Acknowledged usage is on disk, so the next start
 * recovers as after a crash. A part that was still starting is not in the file yet. It ends itself when this process has ended.
 */
export async function killServices(runFile: string): Promise<void> {
  const running = await readRunFile(runFile)
  // Otherwise the file belongs to an earlier run, and its process ids may now belong to other programs.
  if (running?.supervisorPid !== process.pid) return
  for (const [name, pid] of Object.entries(running.processes)) {
    // On SIGQUIT, PostgreSQL ends its child processes immediately, without a checkpoint. SIGKILL would leave them running.
    sendSignal(pid, name === 'postgres' ? 'SIGQUIT' : 'SIGKILL')
  }
}

function sendSignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // The process has already ended.
  }
}
