import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

export type KeptRunning = {
  /** At once (-9), and returns when it is gone and is not started again. */
  kill(): Promise<void>
}

/**
 * Starts a process, and starts it again whenever it ends by itself, as who supervises it does: lmdb may give a process up
 * whose neighbour was killed in the middle of a write. So tests that kill neighbours write nothing to an embedded store
 * themselves afterwards: nobody starts them again.
 */
export function keepRunning(start: () => ChildProcess): KeptRunning {
  let isWanted = true
  let running: ChildProcess
  const run = (): void => {
    running = start()
    running.once('exit', () => {
      if (isWanted) run()
    })
  }
  run()
  return {
    async kill() {
      isWanted = false
      const gone = once(running, 'exit')
      running.kill('SIGKILL')
      await gone
    },
  }
}
