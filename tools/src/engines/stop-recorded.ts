import { isRunning, readProcessRecord, removeProcessRecord } from './process-record.ts'
import { waitUntil } from './wait-until.ts'

const endTimeoutMs = 20_000
const killTimeoutMs = 5_000

/**
 * Ends the server of the folder, if it is the one that was started there, and waits until it is gone. Asked nicely
 * first; SIGCONT lets one that is suspended hear it. The record goes last, so that a stop that is cut short can be
 * repeated.
 */
export async function stopRecorded(folder: string): Promise<void> {
  const record = readProcessRecord(folder)
  if (!record) return
  // Looked up each time: the number may be another process's by now.
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
    // It ended in this very moment.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
