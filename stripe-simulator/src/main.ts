import { openObservability } from '@tollgate/platform/observability/open-observability'
import { runService } from '@tollgate/platform/service/run-service'
import { readSimulatorConfig } from './config.ts'
import { createStripeSimulator } from './service.ts'

const config = readSimulatorConfig(process.env)
const observability = await openObservability('stripe-simulator', config.logLevel, process.env)
const simulator = createStripeSimulator(config, observability)

await runService(simulator, observability, () => ({
  port: simulator.port,
  adminPort: simulator.adminPort,
}))
