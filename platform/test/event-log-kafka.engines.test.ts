import { describe, expect, it } from 'vitest'
import { describeEventLog } from '../src/testing/event-log-contract.ts'
import { createKafkaLog, testBrokers } from '../src/testing/kafka-under-test.ts'

describe.skipIf(testBrokers === undefined)('with TOLLGATE_TEST_KAFKA_BROKERS', () => {
  describeEventLog('Kafka', createKafkaLog)

  it('reports brokers that delete positions too soon', async () => {
    const { log, destroy } = await createKafkaLog()
    try {
      await log.checkPositionsKept(10_080)
      const longer = log.checkPositionsKept(10_081)
      await expect(longer).rejects.toThrow(/Set its offsets\.retention\.minutes to 10081 or more/)
    } finally {
      await destroy()
    }
  })
})
