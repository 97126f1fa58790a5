import { expect, it } from 'vitest'
import { GrowingBuffer } from './growing-buffer.ts'
import { writeNativeBlock } from './native-block.ts'

it('writes the counts, then each column after its name and type', () => {
  const rows = [
    { name: 'ab', amount: -1 },
    { name: '', amount: 2 ** 40 },
  ]
  const buffer = new GrowingBuffer()
  writeNativeBlock<(typeof rows)[number]>(
    buffer,
    [
      { name: 'n', type: 'String', value: ({ name }) => name },
      { name: 'v', type: 'Decimal(18, 6)', value: ({ amount }) => amount },
      { name: 'p', type: 'UInt32', value: () => 7 },
    ],
    rows,
  )
  expect(Buffer.from(buffer.written()).toString('latin1')).toBe(
    '\x03\x02' +
      '\x01n\x06String\x02ab\x00' +
      '\x01v\x0eDecimal(18, 6)\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00\x00\x01\x00\x00' +
      '\x01p\x06UInt32\x07\x00\x00\x00\x07\x00\x00\x00',
  )
})
