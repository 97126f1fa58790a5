import { expect, test } from 'vitest'
import { assetTypeOf } from './asset-type.ts'

test.each([
  ['89504e470d0a1a0a0000000d', 'image/png'],
  ['ffd8ffe000104a4649460001', 'image/jpeg'],
  ['474946383961010001000000', 'image/gif'],
  ['524946462400000057454250', 'image/webp'],
  ['524946462400000057415645', undefined],
  ['3c7376672076657273696f6e', undefined],
  ['8950', undefined],
  ['', undefined],
])('reads the bytes %s as %s', (hex, type) => {
  expect(assetTypeOf(Buffer.from(hex, 'hex'))).toBe(type)
})
