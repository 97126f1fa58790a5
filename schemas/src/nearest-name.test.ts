import { expect, test } from 'vitest'
import { nearestName } from './nearest-name.ts'

test.for([
  ['TOLLGATE_PROT', 'TOLLGATE_PORT'],
  ['TOLLGATE_DATADIR', 'TOLLGATE_DATA_DIR'],
  ['customerref', 'customerRef'],
  ['legalname', 'legalName'],
  ['suportUrl', 'supportUrl'],
  ['x', undefined],
  ['', undefined],
  ['somethingElse', undefined],
  ['x'.repeat(100_000), undefined],
] as const)('finds for %.20s the known name %s', ([name, nearest]) => {
  const known = [
    ...['TOLLGATE_PORT', 'TOLLGATE_DATA_DIR', 'customerRef', 'units'],
    ...['legalName', 'supportEmail', 'supportUrl', 'taxId'],
  ]
  expect(nearestName(name, known)).toBe(nearest)
})
