import type { SeededRandom } from '@tollgate/platform/testing/seeded-random'

/** JSON texts of values at a boundary or far beyond it. */
const values = [
  'null',
  'true',
  '0',
  '-0',
  '-1',
  '0.5',
  '0.0000001',
  '1e400',
  '-1e400',
  '1e-400',
  '100000',
  '100001',
  '9000000000',
  '9007199254740993',
  '""',
  '" "',
  '"\\u0000"',
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"😀"',
  '"<script>alert(1)</script>"',
  '"\'; drop table customers; --"',
  '"../../etc/passwd"',
  '"%00"',
  '"now"',
  '"2026-02-30T00:00:00Z"',
  '"9999-12-31T23:59:59Z"',
  '"-000001-01-01T00:00:00Z"',
  '[]',
  '{}',
  '[[[[[[[[[[1]]]]]]]]]]',
  '{"__proto__":{"units":7}}',
  '{"constructor":{"prototype":{"x":1}}}',
  '{"toString":1,"valueOf":2,"hasOwnProperty":3}',
  '{"length":{"toString":1}}',
  '{"":{"":{"":""}}}',
]

const fields = [
  'customerRef',
  'productRef',
  'purchaseRef',
  'meterName',
  'value',
  'units',
  'outcome',
  'actionType',
  'timestamp',
  'duration',
  'metadata',
  'properties',
  'idempotencyKey',
  'description',
  'events',
  'records',
  'includeCheckoutSession',
  '__proto__',
  'constructor',
  '',
]

/** Returns the JSON text of a random value. */
function hostileValue(random: SeededRandom): string {
  if (random.chance(0.8)) return random.pick(values)
  switch (random.below(4)) {
    case 0:
      return JSON.stringify('x'.repeat(random.below(20_000)))
    case 1:
      return '['.repeat(50) + ']'.repeat(50)
    case 2:
      return '{"a":'.repeat(random.below(60)) + '1' + '}'
    default:
      return JSON.stringify(random.bytes(random.below(64)).toString('latin1'))
  }
}

/** Returns the JSON text of an object with some valid fields and some arbitrary ones. */
function hostileObject(random: SeededRandom, depth = 0): string {
  const members: string[] = []
  if (random.chance(0.9)) members.push('"customerRef":"hostile"')
  if (random.chance(0.3)) members.push('"productRef":"prd_HOSTILE"')
  for (let count = random.below(4); count > 0; count--) {
    const value =
      depth < 3 && random.chance(0.2) ? hostileList(random, depth + 1) : hostileValue(random)
    members.push(`${JSON.stringify(random.pick(fields))}:${value}`)
  }
  return `{${members.join(',')}}`
}

function hostileList(random: SeededRandom, depth: number): string {
  const length = random.chance(0.05) ? 1001 : random.below(4)
  const item = hostileObject(random, depth)
  return `[${Array.from({ length }, () => item).join(',')}]`
}

/** Returns the bytes of a random body. */
export function hostileBody(random: SeededRandom): Buffer {
  const object = (): Buffer => Buffer.from(hostileObject(random))
  switch (random.below(10)) {
    case 0:
      return random.bytes(random.below(300))
    case 1:
      return Buffer.from(hostileValue(random))
    case 2: {
      const whole = object()
      return whole.subarray(0, random.below(whole.byteLength + 1))
    }
    case 3: {
      const whole = object()
      if (whole.byteLength > 0) whole[random.below(whole.byteLength)] = random.below(256)
      return whole
    }
    case 4:
      return Buffer.from(`{"events":${hostileList(random, 0)}}`)
    case 5:
      return Buffer.from(`{"records":${hostileList(random, 0)}}`)
    case 6:
      return random.chance(0.02) ? Buffer.alloc(1_100_000, '[') : Buffer.alloc(0)
    default:
      return object()
  }
}
