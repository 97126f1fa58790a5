import { describe } from 'vitest'
import {
  missingParts,
  prepareParts,
  redisVariables,
  type RedisVariable,
} from './engines/engine-parts.ts'
import { describeReservations, type StackUnderTest } from './reservations-contract.ts'
import { startStack } from './stack.ts'

describe.each(redisVariables)('with Kafka, and Redis by %s', (redis) => {
  const missing = missingParts(redis)
  const title = missing.length > 0 ? ` (left out without ${missing.join(', ')})` : ''
  describe.skipIf(missing.length > 0)(`on engines${title}`, () => {
    describeReservations('reserved by ingest', () => createStack(redis))
  })
})

async function createStack(redis: RedisVariable): Promise<StackUnderTest> {
  const parts = prepareParts(redis)
  const stack = await startStack({ settings: parts.settings })
  return {
    stack,
    remove: async () => {
      await stack.stop()
      await parts.remove()
    },
  }
}
