import { SettingsError } from '@tollgate/platform/config/settings'
import { createLogger } from '@tollgate/platform/observability/logger'
import { runService } from '@tollgate/platform/service/run-service'
import { readIngestConfig } from './config.ts'
import { createIngest } from './service.ts'

try {
  const config = readIngestConfig(process.env)
  const logger = createLogger('ingest', config.logLevel)
  const ingest = createIngest(config, { logger })
  await runService(ingest, logger, () => ({
    port: ingest.port,
    adminPort: ingest.adminPort,
    front: ingest.front,
  }))
} catch (error) {
  if (!(error instanceof SettingsError)) throw error
  console.error(error.message)
  process.exit(1)
}
