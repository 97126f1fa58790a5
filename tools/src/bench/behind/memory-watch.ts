import { readFile } from 'node:fs/promises'

const everyMs = 50

/** Watches how much memory the process has that runs under a name, also after it was started again. Linux only. */
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

  /** Returns the most that was seen since the last call, and how often the process was started again. */
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
