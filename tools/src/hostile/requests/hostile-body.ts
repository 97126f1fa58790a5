import type { SeededRandom } from '../../client/seeded-random.ts'

/** JSON texts at or far beyond a boundary. */
const values = [
  ...['null', 'true', '0', '-0', '-1', '0.5', '0.0000001', '1e400', '-1e400', '1e-400', '1E2'],
  ...['100000', '100001', '9000000000', '9000000001', '9007199254740993', 'NaN', 'Infinity', '01'],
  ...['""', '" "', '"\\u0000"', '"\\ud800"', '"\\udc00\\ud800"', '"😀"', '"\\n\\t"', '"\u2028"'],
  ...['"<script>alert(1)</script>"', '"\'; drop table customers; --"', '"../../etc/passwd"'],
  ...['"now"', '"2026-02-30T00:00:00Z"', '"9999-12-31T23:59:59Z"', '"-000001-01-01T00:00:00Z"'],
  ...['[]', '{}', '[[[[[[[[[[1]]]]]]]]]]', '{"__proto__":{"units":7}}', '{"":{"":{"":""}}}'],
  ...['{"constructor":{"prototype":{"x":1}}}', '{"toString":1,"valueOf":2,"hasOwnProperty":3}'],
  '{"length":{"toString":1}}',
  ...['"success"', '"paywall"', '"api_call"', '"requests"', '"monthly"', '"recurring"', '"USD"'],
]

const fields = [
  ...['customerRef', 'productRef', 'purchaseRef', 'meterName', 'value', 'units', 'outcome'],
  ...['actionType', 'timestamp', 'duration', 'metadata', 'properties', 'idempotencyKey'],
  ...['description', 'events', 'records', 'includeCheckoutSession', 'planRef', 'name', 'email'],
  ...['externalRef', 'type', 'price', 'limit', 'freeUnits', 'billingCycle', 'currency', 'default'],
  ...['pricingOptions', 'config', 'status', '__proto__', 'constructor', ''],
]

/** Fraction of bodies larger than the service accepts. It is small, because all these bytes must be sent. */
const hugeBodyRate = 0.00005
const hugeBodyBytes = 10_000_000

export function hostileBody(random: SeededRandom): Buffer {
  if (random.chance(hugeBodyRate)) return Buffer.alloc(hugeBodyBytes, '[')
  const text = bodyText(random)
  const bytes = Buffer.from(text, 'utf8')
  if (random.chance(0.06) && bytes.length > 0) {
    // Change one byte, which breaks the JSON or the UTF-8.
    bytes[random.integer(0, bytes.length - 1)] = random.integer(0, 255)
  }
  return random.chance(0.04) ? bytes.subarray(0, random.integer(0, bytes.length)) : bytes
}

function bodyText(random: SeededRandom): string {
  const kind = random.integer(0, 9)
  if (kind === 0) return hostileValue(random)
  if (kind === 1) return ''
  if (kind <= 3) return `{"${random.pick(['events', 'records'])}":${hostileList(random)}}`
  return hostileObject(random)
}

/** Returns an object with some valid and some invalid fields. A name may occur twice. */
function hostileObject(random: SeededRandom): string {
  const members: string[] = []
  if (random.chance(0.9)) members.push(`"customerRef":"hostile_${random.integer(0, 99)}"`)
  if (random.chance(0.3)) members.push('"productRef":"prd_HOSTILE"')
  for (let count = random.integer(0, 3); count > 0; count--) {
    members.push(`${JSON.stringify(random.pick(fields))}:${hostileValue(random)}`)
  }
  return `{${members.join(',')}}`
}

function hostileList(random: SeededRandom): string {
  const length = random.chance(0.01) ? 1_001 : random.integer(0, 4)
  // The long list repeats one valid item, because only its length is invalid.
  if (length > 4) return `[${Array.from({ length }, () => '{"customerRef":"x"}').join(',')}]`
  return `[${Array.from({ length }, () => hostileObject(random)).join(',')}]`
}

function hostileValue(random: SeededRandom): string {
  if (random.chance(0.97)) return random.pick(values)
  switch (random.integer(0, 3)) {
    case 0:
      return JSON.stringify('x'.repeat(random.integer(0, 20_000)))
    case 1:
      return '['.repeat(50) + ']'.repeat(50)
    case 2:
      return `${'{"a":'.repeat(50)}1${'}'.repeat(50)}`
    default:
      return JSON.stringify(String.fromCharCode(random.integer(0, 0xffff)).repeat(8))
  }
}
