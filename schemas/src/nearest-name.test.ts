import { expect, test } from 'vitest'
import { nearestName } from './nearest-name.ts'

test.for([
  ['TOLLGATE_PROT', 'TOLLGATE_PORT'],
  ['TOLLGATE_DATADIR', 'TOLLGATE_DATA_DIR'],
  ['customerref', 'customerRef'],
  ['x', undefined],
  ['', undefined],
  ['somethingElse', undefined],
] as const)('finds for %s the known name %s', ([name, nearest]) => {
  const known = ['TOLLGATE_PORT', 'TOLLGATE_DATA_DIR', 'customerRef', 'units']
  expect(nearestName(name, known)).toBe(nearest)
})
