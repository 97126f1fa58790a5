import { createLogger } from '@tollgate/platform/observability/logger'
import { runService } from '@tollgate/platform/service/run-service'
import { readAggregatorConfig } from './config.ts'
import { createAggregator } from './service.ts'

const config = readAggregatorConfig(process.env)
const logger = createLogger(`aggregator-${config.projection}`, config.logLevel)
const aggregator = createAggregator(config, { logger })

await runService(aggregator, logger, () => ({
  projection: config.projection,
  adminPort: aggregator.adminPort,
}))
