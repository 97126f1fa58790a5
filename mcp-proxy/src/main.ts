import { openObservability } from '@tollgate/platform/observability/open-observability'
import { runService } from '@tollgate/platform/service/run-service'
import { readMcpProxyConfig } from './config.ts'
import { createMcpProxy } from './service.ts'

const config = readMcpProxyConfig(process.env)
const observability = await openObservability('mcp-proxy', config.logLevel, process.env)
const proxy = createMcpProxy(config, observability)

await runService(proxy, observability, () => ({ port: proxy.port, adminPort: proxy.adminPort }))
