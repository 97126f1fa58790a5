import { expect, it } from 'vitest'
import { GrowingBuffer } from './growing-buffer.ts'
import { writeNativeBlock } from './native-block.ts'

it('writes the counts, then each column after its name and type', () => {
  const rows = [
    { name: 'ab', amount: -1, tags: { x: 'y', z: '' } },
    { name: '', amount: 2 ** 40, tags: {} },
    { name: '', amount: 0, tags: { x: 'w' } },
  ]
  const buffer = new GrowingBuffer()
  type Row = {
    readonly name: string
    readonly amount: number
    readonly tags: Record<string, string>
  }
  writeNativeBlock<Row>(
    buffer,
    [
      { name: 'n', type: 'String', value: ({ name }) => name },
      { name: 'v', type: 'Decimal(18, 6)', value: ({ amount }) => amount },
      { name: 'p', type: 'UInt32', value: () => 7 },
      { name: 'm', type: 'Map(String, String)', value: ({ tags }) => tags },
    ],
    rows,
  )
  expect(Buffer.from(buffer.written()).toString('latin1')).toBe(
    '\x04\x03' +
      '\x01n\x06String\x02ab\x00\x00' +
      '\x01v\x0eDecimal(18, 6)\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00\x00\x01\x00\x00' +
      '\x00'.repeat(8) +
      '\x01p\x06UInt32\x07\x00\x00\x00\x07\x00\x00\x00\x07\x00\x00\x00' +
      // The numbers of entries up to the end of each map, then all names, then all values.
      '\x01m\x13Map(String, String)' +
      ['\x02', '\x02', '\x03'].map((end) => `${end}${'\x00'.repeat(7)}`).join('') +
      '\x01x\x01z\x01x' +
      '\x01y\x00\x01w',
  )
})
