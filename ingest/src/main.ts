import { fileURLToPath } from 'node:url'
import { SettingsError } from '@tollgate/platform/config/settings'
import {
  openObservability,
  type Observability,
} from '@tollgate/platform/observability/open-observability'
import { runService } from '@tollgate/platform/service/run-service'
import { readIngestConfig, type IngestConfig } from './config.ts'
import { createIngest } from './service.ts'
import { requireShareable } from './workers/require-shareable.ts'
import { readWorkerNumber } from './workers/worker-number.ts'
import { createWorkers } from './workers/workers.ts'

try {
  const config = readIngestConfig(process.env)
  requireShareable(config)
  const worker = readWorkerNumber(process.argv.slice(2), process.send !== undefined)
  const labels = worker === undefined ? {} : { worker }
  const observability = await openObservability('ingest', config.logLevel, process.env, labels)
  if (worker === undefined && config.workers > 1) await runWorkers(config, observability)
  else await runIngest(config, observability, worker)
} catch (error) {
  if (!(error instanceof SettingsError)) throw error
  console.error(error.message)
  process.exit(1)
}

async function runIngest(
  config: IngestConfig,
  observability: Observability,
  worker: number | undefined,
): Promise<void> {
  const ingest = createIngest(config, { ...observability, worker })
  await runService(ingest, observability, () => ({
    port: ingest.port,
    adminPort: ingest.adminPort,
    front: ingest.front,
    notice: ingest.notice,
  }))
}

async function runWorkers(config: IngestConfig, observability: Observability): Promise<void> {
  const entry = fileURLToPath(import.meta.url)
  const workers = createWorkers(config, process.env, entry, observability.logger)
  await runService(workers, observability, () => ({
    port: workers.port,
    adminPort: workers.adminPort,
    workers: workers.workers,
  }))
}
