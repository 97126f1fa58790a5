import { expect, it } from 'vitest'
import { encoded, meterEvent } from '../../test/meter-event.ts'
import { BatchDecoder } from './decode-batch.ts'

const decode = (...values: Uint8Array[]) => {
  const decoder = new BatchDecoder(10)
  decoder.add(values.map((value, index) => ({ offset: 10 + index, receivedAtMs: 5, value })))
  return decoder.finish()
}

it('collects unreadable records separately and continues', () => {
  const good = encoded(meterEvent({}))
  const truncated = good.subarray(0, good.length - 1)
  const batch = decode(Uint8Array.of(), truncated, Uint8Array.of(0, 0, 0, 0, 99, 1), good)
  expect(batch).toMatchObject({ fromOffset: 10, toOffset: 14 })
  expect(batch.unreadable.map((record) => record.offset)).toEqual([10, 11, 12])
  expect(batch.events.map((record) => record.offset)).toEqual([13])
})

it.each([
  [-1, false],
  [0, true],
  [4_102_444_799_999, true],
  [4_102_444_800_000, false],
])('decides whether a timestamp of %d can be stored: %s', (timestamp, isStorable) => {
  expect(decode(encoded(meterEvent({ timestamp }))).events).toHaveLength(isStorable ? 1 : 0)
})

it('keeps no memory of the buffer that it decoded', () => {
  const shared = Uint8Array.of(1, 2, 3)
  const batch = decode(shared)
  shared.fill(0)
  expect([...batch.unreadable[0]!.value]).toEqual([1, 2, 3])
})
