import { openObservability } from '@tollgate/platform/observability/open-observability'
import { runService } from '@tollgate/platform/service/run-service'
import { readControlPlaneConfig } from './config.ts'
import { createControlPlane } from './service.ts'

const config = readControlPlaneConfig(process.env)
const observability = await openObservability('control-plane', config.logLevel, process.env)
const service = createControlPlane(config, observability)

await runService(service, observability, () => ({
  port: service.port,
  adminPort: service.adminPort,
}))
