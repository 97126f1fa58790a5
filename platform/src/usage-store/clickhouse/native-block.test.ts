import { expect, it } from 'vitest'
import type { Column } from '../usage-store.ts'
import { NativeBlock } from './native-block.ts'

it('writes the counts, then each column after its name and type', () => {
  const rows = [
    { name: 'ab', amount: -1, tags: { x: 'y', z: '' } },
    { name: '', amount: 2 ** 40, tags: {} },
    { name: '', amount: 0, tags: { x: 'w' } },
  ]
  type Row = {
    readonly name: string
    readonly amount: number
    readonly tags: Record<string, string>
  }
  const parts = new NativeBlock().write<Row>(
    [
      { name: 'n', type: 'String', value: ({ name }) => name },
      { name: 'v', type: 'Decimal(18, 6)', value: ({ amount }) => amount },
      { name: 'p', type: 'UInt32', value: () => 7 },
      { name: 'm', type: 'Map(String, String)', value: ({ tags }) => tags },
    ],
    rows,
  )
  expect(Buffer.concat(parts).toString('latin1')).toBe(
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

it('writes any number of rows like one column at a time, again and again', () => {
  const texts = ['', 'a', 'a', 'é'.repeat(30), 'x'.repeat(60)]
  const rows = Array.from({ length: 1_000 }, (_, index) => texts[Math.floor(index / 3) % 5]!)
  const columns: readonly Column<string>[] = [
    { name: 'a', type: 'String', value: (text) => text },
    { name: 'b', type: 'UInt64', value: ({ length }) => length },
    { name: 'c', type: 'Map(String, String)', value: (text) => ({ [text]: text, z: text }) },
  ]
  const block = new NativeBlock()
  for (const total of [1_000, 0, 1, 127, 128, 129]) {
    const some = rows.slice(0, total)
    const written = Buffer.concat(block.write(columns, some))
    const lengths = Buffer.concat(
      some.map(({ length }) => Buffer.from(BigUint64Array.of(BigInt(length)).buffer)),
    )
    const ends = some.map((_, index) => BigInt(2 * (index + 1)))
    const expected = Buffer.concat([
      Buffer.from([columns.length, ...lengthOf(total)]),
      ...[sized('a'), sized('String'), ...some.map(sized)],
      ...[sized('b'), sized('UInt64'), lengths],
      ...[sized('c'), sized('Map(String, String)'), Buffer.from(BigUint64Array.from(ends).buffer)],
      ...some.flatMap((text) => [sized(text), sized('z')]),
      ...some.flatMap((text) => [sized(text), sized(text)]),
    ])
    expect(written.equals(expected)).toBe(true)
  }
})

function lengthOf(length: number): number[] {
  return length < 128 ? [length] : [(length % 128) + 128, ...lengthOf(Math.floor(length / 128))]
}

function sized(text: string): Buffer {
  const bytes = Buffer.from(text)
  return Buffer.concat([Buffer.from(lengthOf(bytes.length)), bytes])
}
