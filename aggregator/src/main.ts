import { openObservability } from '@tollgate/platform/observability/open-observability'
import { runService } from '@tollgate/platform/service/run-service'
import { readAggregatorConfig } from './config.ts'
import { createAggregator } from './service.ts'

const config = readAggregatorConfig(process.env)
const observability = await openObservability(
  `aggregator-${config.projection}`,
  config.logLevel,
  process.env,
)
const aggregator = createAggregator(config, observability)

await runService(aggregator, observability, () => ({
  projection: config.projection,
  adminPort: aggregator.adminPort,
}))
