import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { DispatcherStack } from './dispatcher-stack.ts'

const main = fileURLToPath(new URL('../dist/bundled/main.js', import.meta.url))

/** Runs dispatchers as separate processes on the database of a stack. */
export class DispatcherProcesses {
  readonly #stack: DispatcherStack
  readonly #started = new Set<ChildProcess>()

  constructor(stack: DispatcherStack) {
    this.#stack = stack
  }

  start(): ChildProcess {
    const child = spawn(process.execPath, [main], {
      env: {
        PATH: process.env['PATH'],
        TOLLGATE_DATABASE_URL: this.#stack.databaseUrl,
        TOLLGATE_SECRET_KEYS: this.#stack.secretKeys,
        TOLLGATE_OUTBOUND_ALLOWED: '127.0.0.1',
        TOLLGATE_LOG_LEVEL: 'error',
        TOLLGATE_WEBHOOK_POLL_MS: '100',
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    this.#started.add(child)
    return child
  }

  /** Sends SIGKILL, so the process finishes nothing. Resolves when it has exited. */
  async kill(child: ChildProcess): Promise<void> {
    if (!this.#started.delete(child)) return
    if (child.exitCode !== null || child.signalCode !== null) return
    const isGone = once(child, 'exit')
    child.kill('SIGKILL')
    await isGone
  }

  async killAll(): Promise<void> {
    for (const child of this.#started) await this.kill(child)
  }
}
