import { openObservability } from '@tollgate/platform/observability/open-observability'
import { runService } from '@tollgate/platform/service/run-service'
import { readWebhookDispatcherConfig } from './config.ts'
import { createWebhookDispatcher } from './service.ts'

const config = readWebhookDispatcherConfig(process.env)
const observability = await openObservability('webhook-dispatcher', config.logLevel, process.env)
const dispatcher = createWebhookDispatcher(config, observability)

await runService(dispatcher, observability, () => ({ adminPort: dispatcher.adminPort }))
