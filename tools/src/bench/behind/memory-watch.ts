import { readFile } from 'node:fs/promises'

const everyMs = 50

/** Watches the memory of the process with a given name, including its restarts. Works on Linux only. */
export class MemoryWatch {
  readonly #pidOf: () => Promise<number | undefined>
  readonly #pids = new Set<number>()
  #mostMiB = 0
  #timer: NodeJS.Timeout | undefined

  constructor(pidOf: () => Promise<number | undefined>) {
    this.#pidOf = pidOf
  }

  start(): void {
    this.#timer = setInterval(() => void this.#look().catch(() => undefined), everyMs)
  }

  /** Returns the maximum memory since the last call, and the number of restarts since the watch began. */
  take(): { readonly mostMiB: number; readonly restarts: number } {
    const taken = { mostMiB: this.#mostMiB, restarts: Math.max(0, this.#pids.size - 1) }
    this.#mostMiB = 0
    return taken
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  async #look(): Promise<void> {
    const pid = await this.#pidOf()
    if (pid === undefined) return
    const status = await readFile(`/proc/${pid}/status`, 'utf8')
    const resident = Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0)
    this.#pids.add(pid)
    this.#mostMiB = Math.max(this.#mostMiB, resident / 1024)
  }
}
