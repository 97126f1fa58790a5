import { expect, test } from 'vitest'
import { nearestName } from './nearest-name.ts'

const known = ['legalName', 'supportEmail', 'supportUrl', 'taxId']

test.each([
  ['legalname', 'legalName'],
  ['lagalName', 'legalName'],
  ['suportUrl', 'supportUrl'],
  ['taxid', 'taxId'],
  ['colour', undefined],
  ['', undefined],
  ['x'.repeat(100_000), undefined],
])('%.20s is meant to be %s', (name, nearest) => {
  expect(nearestName(name, known)).toBe(nearest)
})
