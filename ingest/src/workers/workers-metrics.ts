import { Counter, Gauge, type Registry } from '@tollgate/platform/observability/metrics'
import type { Worker } from './worker.ts'

/** Registers the metrics that the parent has of its own. All others are those of the workers. */
export function registerWorkersMetrics(
  registry: Registry,
  workers: readonly Pick<Worker, 'number' | 'isRunning' | 'starts'>[],
): void {
  const registers = [registry]
  new Gauge({
    name: 'tollgate_ingest_workers_missing',
    help: 'Ingest processes of the shared port that do not run and are being started again',
    registers,
    collect() {
      this.set(workers.filter(({ isRunning }) => !isRunning).length)
    },
  })
  new Counter({
    name: 'tollgate_ingest_worker_starts_total',
    help: 'Times that an ingest process of the shared port became ready, by worker',
    labelNames: ['worker'],
    registers,
    collect() {
      this.reset()
      for (const { number, starts } of workers) this.inc({ worker: String(number) }, starts)
    },
  })
}
