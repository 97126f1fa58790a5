import { expect, test } from 'vitest'
import { bodiesOf, newKey } from './bodies.ts'

const product = { productRef: 'prd_1', customerRefs: ['cus_1', 'cus_2'] }
const textOf = (shape: Parameters<typeof bodiesOf>[0]): string[] =>
  bodiesOf(shape, product).map((body) => JSON.stringify(body))

test('gives each record of a bulk its own key in every request', () => {
  const [body = ''] = textOf({ kind: 'bulk', isUnknown: false, isKeyed: true })
  const keys = [...body.matchAll(/"idempotencyKey":"([^"]+)"/g)].map(([, key]) => key)
  expect(keys).toHaveLength(100)
  expect(new Set(keys).size).toBe(100)
  expect(keys.every((key) => key?.startsWith(newKey))).toBe(true)
})

test('sends keys only where they are measured', () => {
  const single = { kind: 'single', isUnknown: false } as const
  expect(textOf({ ...single, isKeyed: true })[0]).toContain(`"idempotencyKey":"${newKey}"`)
  expect(textOf({ ...single, isKeyed: false }).join()).not.toContain('idempotencyKey')
  expect(textOf({ kind: 'bulk', isUnknown: true, isKeyed: false }).join()).not.toContain(newKey)
})

test('names only customers that do not exist where unknown ones are measured', () => {
  for (const kind of ['single', 'bulk', 'limits'] as const) {
    const text = textOf({ kind, isUnknown: true, isKeyed: false }).join()
    expect(text).toContain('"not_cus_1"')
    expect(text).not.toContain('"cus_1"')
    expect(textOf({ kind, isUnknown: false, isKeyed: false }).join()).toContain('"cus_2"')
  }
})
