import { setFlagsFromString } from 'node:v8'
import { openObservability } from '@tollgate/platform/observability/open-observability'
import { runService } from '@tollgate/platform/service/run-service'
import { readMcpProxyConfig } from './config.ts'
import { createMcpProxy } from './service.ts'

// Without this, V8 shares the frequent small collections with helper threads and waits for them. On a machine whose cores are busy
// with other services, a helper waits for a core for milliseconds, and all calls wait with it (docs/decisions/mcp-proxy.md).
setFlagsFromString('--no-parallel-scavenge')

const config = readMcpProxyConfig(process.env)
const observability = await openObservability('mcp-proxy', config.logLevel, process.env)
const proxy = createMcpProxy(config, observability)

await runService(proxy, observability, () => ({ port: proxy.port, adminPort: proxy.adminPort }))
