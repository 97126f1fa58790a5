import { killIfHung, launchService } from '@tollgate/platform/processes/launch-service'
import type { Part, RunningPart } from '@tollgate/platform/processes/supervise'
import { askProcess } from '@tollgate/platform/processes/ask-process'
import type { HealthReport } from '@tollgate/platform/service/health'
import { workerParameters } from './worker-number.ts'

export type WorkerOptions = {
  readonly number: number
  /** JavaScript file of the ingest program. */
  readonly entry: string
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly silenceMaxMs: number
  readonly endTimeoutMs: number
  readonly onHung: () => void
}

const host = '127.0.0.1'
const answerTimeoutMs = 1_500
const checkIntervalMs = 2_000

/** One process that serves the shared port. Its own admin server listens on any free port of loopback, for its parent alone. */
export class Worker implements Part {
  readonly number: number
  readonly name: string
  readonly #options: WorkerOptions
  /** Undefined while no process of this worker is ready. */
  #adminUrl: string | undefined
  #starts = 0

  constructor(options: WorkerOptions) {
    this.#options = options
    this.number = options.number
    this.name = `ingest worker ${options.number}`
  }

  get isRunning(): boolean {
    return this.#adminUrl !== undefined
  }

  /** How often a process of this worker became ready. */
  get starts(): number {
    return this.#starts
  }

  async launch(giveUp: AbortSignal): Promise<RunningPart> {
    const { entry, environment, number, endTimeoutMs, silenceMaxMs, onHung } = this.#options
    const launched = await launchService(
      {
        entry,
        parameters: workerParameters(number),
        nodeOptions: process.execArgv,
        environment: { ...environment, TOLLGATE_ADMIN_HOST: host, TOLLGATE_ADMIN_PORT: '0' },
        endTimeoutMs,
      },
      giveUp,
    )
    const adminUrl = `http://${host}:${Number(launched.facts['adminPort'])}`
    this.#adminUrl = adminUrl
    this.#starts += 1
    void launched.ended.then(() => (this.#adminUrl = undefined))
    const liveness = { url: `${adminUrl}/health/live`, intervalMs: checkIntervalMs, silenceMaxMs }
    const watch = killIfHung(launched, liveness, onHung)
    return {
      ...launched,
      stop: async () => {
        watch.stop()
        await launched.stop()
      },
    }
  }

  /** Returns the worker's own report. Rejects while the worker does not answer. */
  async readHealth(): Promise<HealthReport> {
    return JSON.parse(await this.#read('/health/ready')) as HealthReport
  }

  /** Returns the worker's page of metrics. Rejects while the worker does not answer. */
  readMetrics(): Promise<string> {
    return this.#read('/metrics')
  }

  async #read(path: string): Promise<string> {
    if (this.#adminUrl === undefined) throw new Error('it does not run')
    return askProcess(`${this.#adminUrl}${path}`, answerTimeoutMs)
  }
}
