import { isRunning, readProcessRecord, removeProcessRecord } from './process-record.ts'
import { waitUntil } from './wait-until.ts'

const endTimeoutMs = 20_000
const killTimeoutMs = 5_000

/**
 * Stops the server recorded in the folder and waits until it has ended. It first gets its stop signal, and SIGCONT in case it is
 * suspended. The record is removed last, so that an interrupted stop can be repeated.
 */
export async function stopRecorded(folder: string): Promise<void> {
  const record = readProcessRecord(folder)
  if (!record) return
  // Checked before each signal, because another process may reuse the process id.
  const signal = (name: NodeJS.Signals): void => {
    if (isRunning(record)) signalProcess(record.pid, name)
  }
  const isGone = (): boolean => !isRunning(record)
  signal(record.stopSignal)
  signal('SIGCONT')
  if (!(await waitUntil(isGone, endTimeoutMs))) {
    signal('SIGKILL')
    if (!(await waitUntil(isGone, killTimeoutMs))) {
      throw new Error(`${record.name} (process ${record.pid}) does not end.`)
    }
  }
  removeProcessRecord(folder)
}

function signalProcess(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    // The process ended just before the signal.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
