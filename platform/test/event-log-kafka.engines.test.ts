import { describe } from 'vitest'
import { describeEventLog } from '../src/testing/event-log-contract.ts'
import { createKafkaLog, testBrokers } from '../src/testing/kafka-under-test.ts'

describe.skipIf(testBrokers === undefined)('with TOLLGATE_TEST_KAFKA_BROKERS', () => {
  describeEventLog('Kafka', createKafkaLog)
})
