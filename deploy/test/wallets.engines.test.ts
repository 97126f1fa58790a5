import { describe } from 'vitest'
import { missingParts, redisVariables } from './engines/engine-parts.ts'
import { describeRateCards } from './rate-cards-contract.ts'
import { describeWallets } from './wallets-contract.ts'
import { createEngineStack } from './stack-under-test.ts'

describe.each(redisVariables)('with Kafka, and Redis by %s', (redis) => {
  const missing = missingParts(redis)
  const title = missing.length > 0 ? ` (left out without ${missing.join(', ')})` : ''
  describe.skipIf(missing.length > 0)(`on engines${title}`, () => {
    describeWallets('taken by ingest', () => createEngineStack(redis))
    describeRateCards('rate cards', () => createEngineStack(redis))
  })
})
