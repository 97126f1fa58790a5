import { createLogger } from '@tollgate/platform/observability/logger'
import { runService } from '@tollgate/platform/service/run-service'
import { readControlPlaneConfig } from './config.ts'
import { createControlPlane } from './service.ts'

const config = readControlPlaneConfig(process.env)
const logger = createLogger('control-plane', config.logLevel)
const service = createControlPlane(config, { logger })

await runService(service, logger, () => ({ port: service.port, adminPort: service.adminPort }))
