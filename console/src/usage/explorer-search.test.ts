import { expect, test } from 'vitest'
import { explorerQuery, explorerSearch } from './explorer-search.ts'

const nowMs = Date.parse('2026-03-14T23:30:00Z')

test('an address keeps what the explorer understands, and leaves the rest out', () => {
  const state = {
    zone: 'Europe/Paris',
    meters: ['mtr_1', 'mtr_2'],
    ...{ from: '2026-03-01', to: '2026-03-31', by: 'week', group: 'dimension' },
    ...{ dimension: 'model', top: 5, customer: 'cus_1', product: 'prd_1', purchase: 'pur_1' },
    ...{ outcome: 'all', filter: { model: ['large'] }, compare: true, view: 'table' },
  }
  expect(explorerSearch(state)).toEqual(state)
  const wrong = {
    ...{ zone: 'Nowhere', meters: 7, from: '2026-03-31', to: '2026-03-01', last: 31, by: 'year' },
    ...{ group: 'colour', top: 1e9, filter: 'x', compare: 'no', view: 'pie', other: 1 },
  }
  expect(explorerSearch(wrong)).toEqual({ zone: expect.any(String) as string })
  for (const filter of [{}, { model: 'large' }, { model: [1] }, ['large'], null]) {
    expect(explorerSearch({ filter }), JSON.stringify(filter)).not.toHaveProperty('filter')
  }
})

test('the query ends with today in the time zone, or with the last chosen day', () => {
  expect(explorerQuery({ zone: 'UTC', last: 7 }, nowMs)).toEqual({
    ...{ from: '2026-03-08', to: '2026-03-15', timeZone: 'UTC', granularity: 'day' },
  })
  expect(explorerQuery({ zone: 'Europe/Paris', last: 1 }, nowMs)).toMatchObject({
    ...{ from: '2026-03-15', to: '2026-03-16' },
  })
  const chosen = { zone: 'UTC', from: '2026-02-01', to: '2026-02-28' }
  expect(explorerQuery(chosen, nowMs)).toMatchObject({ from: '2026-02-01', to: '2026-03-01' })
})

test('a grouping by dimension waits for its dimension', () => {
  const search = { zone: 'UTC', group: 'dimension' } as const
  expect(explorerQuery(search, nowMs)).not.toHaveProperty('groupBy')
  expect(explorerQuery({ ...search, dimension: 'model' }, nowMs)).toMatchObject({
    ...{ groupBy: 'dimension', dimension: 'model', top: 10 },
  })
  expect(explorerQuery({ zone: 'UTC', dimension: 'model' }, nowMs)).not.toHaveProperty('dimension')
})
