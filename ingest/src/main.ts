import { SettingsError } from '@tollgate/platform/config/settings'
import { openObservability } from '@tollgate/platform/observability/open-observability'
import { runService } from '@tollgate/platform/service/run-service'
import { readIngestConfig } from './config.ts'
import { createIngest } from './service.ts'

try {
  const config = readIngestConfig(process.env)
  const observability = await openObservability('ingest', config.logLevel, process.env)
  const ingest = createIngest(config, observability)
  await runService(ingest, observability, () => ({
    port: ingest.port,
    adminPort: ingest.adminPort,
    front: ingest.front,
    notice: ingest.notice,
  }))
} catch (error) {
  if (!(error instanceof SettingsError)) throw error
  console.error(error.message)
  process.exit(1)
}
