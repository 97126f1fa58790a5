import { expect, test } from 'vitest'
import { readRecordsPerSecond } from './measure-kafka.ts'
import { readCallsPerSecond } from './measure-redis.ts'

test("reads the rate of the whole run from the last line of Kafka's tool", () => {
  const output = [
    '74006 records sent, 14801.2 records/sec (3.53 MB/sec), 1130.5 ms avg latency, 1674.0 ms max latency.',
    '100000 records sent, 16520.730 records/sec (3.94 MB/sec), 1150.91 ms avg latency, 1674.00 ms max latency, 1220 ms 50th, 1613 ms 95th.',
  ].join('\n')
  expect(readRecordsPerSecond(output)).toBe(16_520.73)
  expect(() => readRecordsPerSecond('no broker')).toThrow('no result')
})

test('reads the rate after a command with quotes and commas', () => {
  const output = [
    '"test","rps","avg_latency_ms","min_latency_ms"',
    `"EVAL return redis.call('HGETALL', KEYS[1]) 1 ceiling","45454.55","0.700","0.100"`,
  ].join('\n')
  expect(readCallsPerSecond(output)).toBe(45_454.55)
  expect(() => readCallsPerSecond('no server')).toThrow('no result')
})
