import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describedOperations } from '@tollgate/control-plane/http/described-operations'
import {
  openSimulator,
  type SimulatorUnderTest,
} from '../../../stripe-simulator/test/simulator-under-test.ts'
import { startStack, type Stack } from '../stack.ts'
import { hasPython, runSchemathesis, skippedOperationIds } from './schemathesis.ts'

/*
 * Schemathesis generates valid and invalid requests from the OpenAPI description, uses answers in further requests, and validates
 * every answer against the description. `npm run test:api` runs more of them.
 */

const examples = Number(process.env['TOLLGATE_TEST_API_EXAMPLES'] ?? 2)
const phases = process.env['TOLLGATE_TEST_API_PHASES'] ?? 'fuzzing,stateful'
const timeoutMs = 600_000

/** Schemathesis leaves out the operation that returns the description. The control plane has tests for it. */
const leftOut = [...skippedOperationIds, 'getApiDescription']

const names = Object.entries(describedOperations)
  .filter(([, { operationId }]) => !leftOut.includes(operationId))
  .map(([name]) => name.replace(/^\S+/, (method) => method.toUpperCase()))

describe.skipIf(!hasPython)(
  'the API conforms to its OpenAPI description (python3 on the PATH)',
  () => {
    let simulator: SimulatorUnderTest
    let stack: Stack
    let failures: ReadonlyMap<string, string>

    beforeAll(async () => {
      // A stack without a payment processor answers a valid payment with 502, which would count as a failure.
      simulator = await openSimulator()
      stack = await startStack({
        settings: {
          TOLLGATE_STRIPE_SANDBOX_URL: simulator.simulator.url,
          TOLLGATE_STRIPE_SANDBOX_SECRET_KEY: 'sk_test_1',
        },
      })
      const { sandbox, keys } = await stack.createProvider()
      const { baseUrl } = stack
      const outcome = await runSchemathesis({ baseUrl, key: keys.sandbox, examples, phases })
      failures = outcome.failures
      console.log(outcome.figures)
      // If the key had become invalid, every operation would have been refused as described, without a failure.
      expect((await sandbox.send('GET', '/v1/sdk/products')).status).toBe(200)
    }, timeoutMs)
    afterAll(async () => {
      await stack.stop()
      await simulator.close()
    })

    test.each(names)('%s', (name) => {
      expect(failures.get(name)).toBe('')
    })

    test('sequences of operations', () => {
      const chains = [...failures].filter(([name]) => !names.includes(name))
      expect(chains.map(([, failure]) => failure).filter((failure) => failure !== '')).toEqual([])
    })
  },
)
