import { formatCount, formatTable } from '@tollgate/platform/terminal/table'
import type { ProjectionRate } from '../measure-projections.ts'
import type { ChargesResult } from './measure-charges.ts'

/** The most that an event with five charges may cost, in events with one charge. */
const budget = '<= 1.50'

/**
 * Returns rates of events with one charge and with five, and how often an event with one could be processed in the time of one with
 * five. The last table has the processor time of an event in ingest and in both projections, without the engines.
 */
export function chargesText({ ingest, one, five }: ChargesResult): string {
  const { ceiling, ours } = ingest
  const row = (name: string, ofOne: number, ofFive: number): string[] => [
    name,
    formatCount(Math.round(ofOne)),
    formatCount(Math.round(ofFive)),
    (ofOne / ofFive).toFixed(2),
    budget,
  ]
  const projection = (
    name: string,
    read: (rate: ProjectionRate) => number,
    of: 'counters' | 'sink',
  ) => row(name, read(one[of]), read(five[of]))
  const rates = formatTable(
    ['events', 'one charge', 'five charges', 'cost', 'budget'],
    [
      row('ingest, 64 connections, per second', ceiling.requestsPerSecond, ours.requestsPerSecond),
      projection('counters projection, per core', ({ perCore }) => perCore, 'counters'),
      projection('ClickHouse sink, per core', ({ perCore }) => perCore, 'sink'),
      projection(
        'ClickHouse sink and engine, per core',
        ({ perCoreWithEngine }) => perCoreWithEngine,
        'sink',
      ),
      ['failed requests', String(ceiling.errors), String(ours.errors), '', '0'],
    ],
  )
  return `${rates}\n\n${processorText(ceiling.processorUs, ours.processorUs, one, five)}`
}

function processorText(
  ingestOne: number,
  ingestFive: number,
  one: ChargesResult['one'],
  five: ChargesResult['five'],
): string {
  const usOf = ({ perCore }: ProjectionRate): number => 1_000_000 / perCore
  const parts = [
    ['ingest', ingestOne, ingestFive],
    ['counters projection', usOf(one.counters), usOf(five.counters)],
    ['ClickHouse sink', usOf(one.sink), usOf(five.sink)],
  ] as const
  const sum = (values: readonly number[]): number => values.reduce((total, each) => total + each, 0)
  const all = [
    ...parts,
    ['together', sum(parts.map(([, each]) => each)), sum(parts.map(([, , each]) => each))],
  ] as const
  return formatTable(
    ['processor time of an event, us', 'one charge', 'five charges', 'cost', 'budget'],
    all.map(([name, ofOne, ofFive]) => [
      name,
      ofOne.toFixed(1),
      ofFive.toFixed(1),
      (ofFive / ofOne).toFixed(2),
      name === 'together' ? budget : '',
    ]),
  )
}
