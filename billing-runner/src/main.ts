import { openObservability } from '@tollgate/platform/observability/open-observability'
import { runService } from '@tollgate/platform/service/run-service'
import { readBillingRunnerConfig } from './config.ts'
import { createBillingRunner } from './service.ts'

const config = readBillingRunnerConfig(process.env)
const observability = await openObservability('billing-runner', config.logLevel, process.env)
const runner = createBillingRunner(config, observability)

await runService(runner, observability, () => ({ adminPort: runner.adminPort }))
