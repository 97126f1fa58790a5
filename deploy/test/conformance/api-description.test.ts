import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describedOperations } from '@tollgate/control-plane/http/described-operations'
import { startStack, type Stack } from '../stack.ts'
import { hasPython, runSchemathesis, skippedOperationIds } from './schemathesis.ts'

/*
 * Schemathesis makes requests up from the API's own description, valid ones and others, follows what is answered to the
 * next operation, and holds each answer to the description. `npm run test:api` does more of the same.
 */

const examples = Number(process.env['TOLLGATE_TEST_API_EXAMPLES'] ?? 3)
const phases = process.env['TOLLGATE_TEST_API_PHASES'] ?? 'fuzzing,stateful'
const timeoutMs = 600_000

/** What it reads the description from is left out by itself; the control plane's own tests look at that. */
const leftOut = [...skippedOperationIds, 'getApiDescription']

const names = Object.entries(describedOperations)
  .filter(([, { operationId }]) => !leftOut.includes(operationId))
  .map(([name]) => name.replace(/^\S+/, (method) => method.toUpperCase()))

describe.skipIf(!hasPython)('the API keeps its description (python3 on the PATH)', () => {
  let stack: Stack
  let failures: ReadonlyMap<string, string>

  beforeAll(async () => {
    stack = await startStack()
    const { sandbox, keys } = await stack.createProvider()
    const { baseUrl } = stack
    const outcome = await runSchemathesis({ baseUrl, key: keys.sandbox, examples, phases })
    failures = outcome.failures
    console.log(outcome.figures)
    // A key that has stopped working would have been refused, as described, by every operation.
    expect((await sandbox.send('GET', '/v1/sdk/products')).status).toBe(200)
  }, timeoutMs)
  afterAll(() => stack.stop())

  test.each(names)('%s', (name) => {
    expect(failures.get(name)).toBe('')
  })

  test('one operation after another', () => {
    const chains = [...failures].filter(([name]) => !names.includes(name))
    expect(chains.map(([, failure]) => failure).filter((failure) => failure !== '')).toEqual([])
  })
})
