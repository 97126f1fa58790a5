import { expect, test } from 'vitest'
import { changeText, groupRows, meterChart, timeRows, type ExploredMeter } from './explorer-rows.ts'

const buckets = (...values: number[]) =>
  values.map((value, day) => ({
    ...{ start: `2026-03-0${day + 1}`, end: `2026-03-0${day + 2}`, value, count: value / 10 },
  }))
const usage = (...values: number[]) => {
  const value = values.reduce((sum, each) => sum + each, 0)
  return { value, count: value / 10, buckets: buckets(...values) }
}

const grouped: ExploredMeter = {
  ...{ meterName: 'tokens', ...usage(60, 100), previous: usage(40) },
  groups: [
    { key: 'cus_1', name: 'ada@example.com', ...usage(50, 20), previous: usage(30) },
    { key: '', ...usage(10, 0) },
  ],
  other: usage(0, 80),
}

test('groups keep their names, and the rest is no group', () => {
  expect(groupRows(grouped)).toEqual([
    {
      ...{ key: 'cus_1', name: 'ada@example.com', isRest: false },
      ...{ value: 70, count: 7, previous: 30 },
    },
    { key: '', name: 'None', isRest: false, value: 10, count: 1, previous: undefined },
    { key: '', name: 'All others', isRest: true, value: 80, count: 8, previous: undefined },
  ])
  expect(groupRows({ meterName: 'tokens', ...usage(1) })).toEqual([])
})

test('the chart shows each bucket with its groups, and the shorter time before as zero', () => {
  expect(meterChart(grouped, (start) => start.slice(8))).toEqual({
    series: [
      { label: 'ada@example.com', stack: 'now' },
      { label: 'None', stack: 'now' },
      { label: 'All others', stack: 'now' },
      { label: 'The time before', stack: 'before', isPale: true },
    ],
    points: [
      { label: '01', values: [50, 10, 0, 40] },
      { label: '02', values: [20, 0, 80, 0] },
    ],
  })
})

test('the table has the values of the chart', () => {
  const rows = timeRows(grouped)
  expect(rows.map(({ start, group, value }) => [start, group, value])).toEqual([
    ['2026-03-01', 'ada@example.com', 50],
    ['2026-03-01', 'None', 10],
    ['2026-03-01', 'All others', 0],
    ['2026-03-02', 'ada@example.com', 20],
    ['2026-03-02', 'None', 0],
    ['2026-03-02', 'All others', 80],
  ])
  expect(rows.slice(0, 2).map(({ previous }) => previous)).toEqual([30, undefined])
  expect(timeRows({ meterName: 'tokens', ...usage(3) })).toEqual([
    { start: '2026-03-01', group: undefined, value: 3, count: 0.3, previous: undefined },
  ])
})

test('a change is shown in percent, and not against nothing', () => {
  expect([changeText(150, 120), changeText(50, 100), changeText(2_100, 100)]).toEqual([
    ...['+25%', '-50%', '+2,000%'],
  ])
  expect([changeText(0, 0), changeText(5, 0), changeText(0, 5)]).toEqual([
    ...['no change', 'new', '-100%'],
  ])
})
