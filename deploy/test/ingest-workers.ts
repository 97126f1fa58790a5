import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { hasEnded } from '@tollgate/platform/processes/process-identity'
import type { HealthReport } from '@tollgate/platform/service/health'

/** The built program. A worker is started by its parent from the same file. */
const program = fileURLToPath(new URL('../../ingest/dist/bundled/main.js', import.meta.url))

/** An ingest program in its own process, as an operator starts it. */
export class IngestProcess {
  readonly #child: ChildProcess
  readonly #exited: Promise<unknown[]>
  /** Everything that the process and its workers logged. */
  output = ''
  adminUrl = ''

  private constructor(environment: Readonly<Record<string, string>>) {
    this.#child = spawn(process.execPath, [program], {
      env: { PATH: process.env['PATH'], TOLLGATE_ADMIN_PORT: '0', ...environment },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    // Unlike `exit`, this event comes after all output.
    this.#exited = once(this.#child, 'close')
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk: Buffer) => (this.output += chunk.toString()))
    }
  }

  /** Starts the program, and does not wait until it is ready. */
  static launch(environment: Readonly<Record<string, string>>): IngestProcess {
    return new IngestProcess(environment)
  }

  static async start(environment: Readonly<Record<string, string>>): Promise<IngestProcess> {
    const started = IngestProcess.launch(environment)
    const message = await new Promise<Record<string, unknown>>((resolve) => {
      started.#child.once('message', (told) => resolve(told as Record<string, unknown>))
      void started.#exited.then(() => resolve({}))
    })
    if (message['ready'] !== true) {
      await started.#exited
      throw new Error(`ingest did not start: ${started.output}`)
    }
    started.adminUrl = `http://127.0.0.1:${Number(message['adminPort'])}`
    return started
  }

  get pid(): number {
    return this.#child.pid!
  }

  /** Returns the process ids of the workers by their numbers. */
  async workerPids(): Promise<Map<number, number>> {
    const children = await readFile(`/proc/${this.pid}/task/${this.pid}/children`, 'utf8')
    const pids = new Map<number, number>()
    for (const pid of children.split(' ').filter(Boolean).map(Number)) {
      const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      const [, number] = command.split('\0--worker\0')
      if (number !== undefined && !hasEnded(pid)) pids.set(Number.parseInt(number, 10), pid)
    }
    return pids
  }

  async readHealth(): Promise<HealthReport & { readonly httpStatus: number }> {
    const response = await fetch(`${this.adminUrl}/health/ready`)
    return { ...((await response.json()) as HealthReport), httpStatus: response.status }
  }

  async readMetrics(): Promise<string> {
    return (await fetch(`${this.adminUrl}/metrics`)).text()
  }

  /** Stops the process like an operator. Resolves with its exit code. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    this.#child.kill(signal)
    const [code] = await this.#exited
    return code as number | null
  }
}

/** Returns the value of a sample, or undefined if the page has none with these labels. */
export function sampleOf(page: string, name: string, worker: number): number | undefined {
  const line = page
    .split('\n')
    .find((each) => each.startsWith(`${name}{`) && each.includes(`worker="${worker}"`))
  return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ') + 1))
}
