import { writeFile } from 'node:fs/promises'
import openapiTypes, { astToString, type OpenAPI3 } from 'openapi-typescript'
import { buildTestApp } from '../../control-plane/test/built-app.ts'
import type { TestStack } from '../../control-plane/test/test-stack.ts'
import { systemClock } from '@tollgate/platform/clock/clock'
import { createPostgresDatabase } from '@tollgate/platform/database/postgres/postgres-database'
import { createMetrics } from '@tollgate/platform/observability/metrics'
import { createClickHouseUsageStore } from '@tollgate/platform/usage-store/clickhouse/clickhouse-usage-store'

/*
 * Writes the types of the API, from its own description, to the folder in which the client of the console reads them. The API is
 * built but serves no request, so its stores are never reached.
 */

const database = createPostgresDatabase({
  url: 'postgres://nobody@127.0.0.1:9/nothing',
  connectTimeoutSeconds: 1,
})
const usageStore = createClickHouseUsageStore({
  url: 'http://127.0.0.1:9',
  username: 'default',
  password: '',
  requestTimeoutMs: 500,
})
const stack = { clock: systemClock, hotState: {}, eventLog: {} } as unknown as TestStack
const metrics = createMetrics('control-plane')
const app = await buildTestApp(stack, { database, usageStore, metrics })
await app.ready()
const types = await openapiTypes(app.swagger() as unknown as OpenAPI3)
const head = '/* Generated from the API description by `npm run types -w console`. */\n\n'
await writeFile(new URL('../src/api/openapi.d.ts', import.meta.url), head + astToString(types))
process.exit(0)
