import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'

export type KeptRunning = {
  /** At once (-9), and returns when it is gone and is not started again. Rejects where there was nobody left to kill. */
  kill(): Promise<void>
}

/** A process that ends by itself once is lmdb's doing; one that does so again and again is broken. */
const restartsMax = 3

/**
 * Starts a process, and starts it again when it fails, as who supervises it does: lmdb may give a process up whose neighbour
 * was killed in the middle of a write. So tests that kill neighbours write nothing to an embedded store themselves
 * afterwards: nobody starts them again. It lives no longer than the test.
 */
export function keepRunning(start: () => ChildProcess): KeptRunning {
  let isWanted = true
  let restarts = 0
  let running: ChildProcess
  const run = (): void => {
    running = start()
    running.once('exit', (code) => {
      if (!isWanted || code === 0 || restarts === restartsMax) return
      restarts += 1
      run()
    })
  }
  const kill = async (): Promise<void> => {
    isWanted = false
    // False: its end has been told already, and is not told again.
    if (running.kill('SIGKILL')) await once(running, 'exit')
  }
  run()
  onTestFinished(kill)
  return {
    async kill() {
      await kill()
      if (running.signalCode !== 'SIGKILL') {
        throw new Error(`It ended by itself with code ${running.exitCode}.`)
      }
    },
  }
}
