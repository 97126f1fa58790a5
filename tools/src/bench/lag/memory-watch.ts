import { readFile } from 'node:fs/promises'

const everyMs = 50

/** Watches the memory of the process with a given name, including its restarts. Works on Linux only. */
export class MemoryWatch {
  readonly #pidOf: () => Promise<number | undefined>
  readonly #pids = new Set<number>()
  #maximumMiB = 0
  #timer: NodeJS.Timeout | undefined

  constructor(pidOf: () => Promise<number | undefined>) {
    this.#pidOf = pidOf
  }

  start(): void {
    this.#timer = setInterval(() => void this.#measure().catch(() => undefined), everyMs)
  }

  /** Returns the maximum memory since the last call, and the number of restarts since the watch began. */
  takeMaximum(): { readonly maximumMiB: number; readonly restarts: number } {
    const taken = { maximumMiB: this.#maximumMiB, restarts: Math.max(0, this.#pids.size - 1) }
    this.#maximumMiB = 0
    return taken
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  async #measure(): Promise<void> {
    const pid = await this.#pidOf()
    if (pid === undefined) return
    const status = await readFile(`/proc/${pid}/status`, 'utf8')
    const resident = Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0)
    this.#pids.add(pid)
    this.#maximumMiB = Math.max(this.#maximumMiB, resident / 1024)
  }
}
