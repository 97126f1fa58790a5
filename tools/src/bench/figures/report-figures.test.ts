import { expect, test } from 'vitest'
import type { Figures } from './figures.ts'
import { refusalOf } from './report-figures.ts'

const figures = { date: '2026-11-27' } as Figures
const none = { write: false, compare: false }
const write = { write: true, compare: false }
const compare = { write: false, compare: true }

test('refuses to compare with figures that are not recorded, and says how to record them', () => {
  expect(refusalOf('embedded', compare, {}, {})).toBe(
    'docs/benchmarks-latest.json has no figures of this kind (embedded) to compare with. Record them with `npm run bench -- --write`.',
  )
  expect(refusalOf('engines', compare, { embedded: figures }, {})).toContain(
    '`npm run bench -- --engines --write`',
  )
})

test('compares with recorded figures, and records the first figures', () => {
  expect(refusalOf('embedded', compare, { embedded: figures }, {})).toBeUndefined()
  expect(refusalOf('embedded', write, {}, {})).toBeUndefined()
  expect(refusalOf('embedded', { write: true, compare: true }, {}, {})).toBeUndefined()
})

test('records no figures of external stores as figures of the embedded ones', () => {
  const environment = { TOLLGATE_HOT_STATE: 'redis' }
  expect(refusalOf('embedded', write, {}, environment)).toContain('or use --engines')
  expect(refusalOf('engines', write, {}, environment)).toBeUndefined()
  expect(refusalOf('embedded', none, {}, environment)).toBeUndefined()
})
