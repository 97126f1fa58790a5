import { Interruptions } from '@tollgate/platform/processes/interruptions'
import { supervise, type SupervisedPart } from '@tollgate/platform/processes/supervise'
import { mergeMetrics } from '@tollgate/platform/observability/merge-metrics'
import { createMetrics, type Registry } from '@tollgate/platform/observability/metrics'
import type { Logger } from '@tollgate/platform/observability/logger'
import { hostService, type Host, type HostedService } from '@tollgate/platform/service/service-host'
import type { IngestConfig } from '../config.ts'
import { reserveSharedPort } from './shared-port.ts'
import { healthTimeoutMs, Worker } from './worker.ts'
import { workersHealth } from './workers-health.ts'
import { registerWorkersMetrics } from './workers-metrics.ts'

type Environment = Readonly<Record<string, string | undefined>>

type WorkersFacts = { readonly port: number; readonly workers: number }

/** Milliseconds that a worker has to close its parts after the requests in flight have ended. */
const closeParts = 5_000

/**
 * Creates the parent of several ingest processes on one port. It accepts no requests itself. It starts the workers, starts each one
 * again that ends, and answers for all of them on the admin port. `entry` is the program of a worker. If the parent is killed, its
 * workers finish their requests and end.
 */
export function createWorkers(
  config: IngestConfig,
  environment: Environment,
  entry: string,
  logger: Logger,
): HostedService<WorkersFacts> {
  const { port, workers } = config
  const supervised: SupervisedPart[] = []
  const service = hostService(config, { port, workers }, (host) =>
    open(config, environment, entry, logger, host, supervised),
  )
  const stop = service.stop.bind(service)
  // A service that is still starting has nothing to stop, but a worker that is ready already serves requests.
  service.stop = async () => {
    await stopAll(supervised)
    await stop()
  }
  return service
}

async function open(
  config: IngestConfig,
  environment: Environment,
  entry: string,
  logger: Logger,
  host: Host,
  supervised: SupervisedPart[],
): Promise<WorkersFacts> {
  const { port } = await host.own(reserveSharedPort(config.host, config.port))
  const silenceMaxMs = config.hungAfterSeconds * 1_000
  const workers = Array.from({ length: config.workers }, (_, index) => {
    const number = index + 1
    const endTimeoutMs = config.shutdownGraceMs + closeParts
    return new Worker({
      number,
      entry,
      environment: { ...environment, TOLLGATE_PORT: String(port) },
      silenceMaxMs,
      endTimeoutMs,
      onHung: () => logger.error({ worker: number, silenceMaxMs }, 'worker hangs: killed'),
      onLate: () => logger.error({ worker: number, endTimeoutMs }, 'worker does not end: killed'),
    })
  })
  const report = (line: string): void => logger.warn(line)
  const interruptions = new Interruptions()
  const onLaunched = async (name: string, pid: number | undefined): Promise<void> =>
    logger.info({ pid }, `${name} is ready`)
  supervised.push(...workers.map((worker) => supervise(worker, report, onLaunched, interruptions)))
  await host.start({
    start: async () => void (await Promise.all(supervised.map((worker) => worker.start()))),
    stop: () => stopAll(supervised),
  })
  // The admin port opens after the workers are ready to listen, as it does with one process.
  const own = createMetrics('ingest')
  registerWorkersMetrics(own, workers)
  await host.serveHealth(mergedMetrics(own, workers), workersHealth(workers), healthTimeoutMs)
  return { port, workers: config.workers }
}

async function stopAll(supervised: readonly SupervisedPart[]): Promise<void> {
  await Promise.all(supervised.map((worker) => worker.stop()))
}

/** Returns one page for the parent and all workers. The samples of a worker have its number, those of the parent none. */
function mergedMetrics(
  own: Registry,
  workers: readonly Worker[],
): Pick<Registry, 'contentType' | 'metrics'> {
  return {
    contentType: own.contentType,
    metrics: async () => {
      const pages = await Promise.all([
        own.metrics(),
        // A worker that does not answer must not hide the others. Its absence shows in the parent's own metrics.
        ...workers.map((worker) => worker.readMetrics().catch(() => '')),
      ])
      return mergeMetrics(pages)
    },
  }
}
