import { writeFile } from 'node:fs/promises'
import openapiTypes, { astToString, type OpenAPI3 } from 'openapi-typescript'
import { buildTestApp, unreachableStores } from '../../control-plane/test/built-app.ts'
import type { TestStack } from '../../control-plane/test/test-stack.ts'
import { systemClock } from '@tollgate/platform/clock/clock'
import { createMetrics } from '@tollgate/platform/observability/metrics'

/*
 * Writes the types of the API for the client of the console. They are generated from the API's own description. The API is built but
 * serves no request, so it needs no stores.
 */

const stack = { clock: systemClock, hotState: {}, eventLog: {} } as unknown as TestStack
const metrics = createMetrics('control-plane')
const app = await buildTestApp(stack, { ...unreachableStores(), metrics })
await app.ready()
const types = await openapiTypes(app.swagger() as unknown as OpenAPI3)
const head = '/* Generated from the API description by `npm run types -w console`. */\n\n'
await writeFile(new URL('../src/api/openapi.d.ts', import.meta.url), head + astToString(types))
process.exit(0)
